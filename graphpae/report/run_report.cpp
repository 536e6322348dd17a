#include "graphpae/report/run_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <map>
#include <set>

#include "graphpae/core/error.h"
#include "graphpae/io/input_file.h"
#include "graphpae/report/auto_report.h"
#include "graphpae/report/page.h"
#include "graphpae/report/sections.h"
#include "graphpae/version.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;

constexpr size_t kChartPoints = 400;  // a chart is not wider
constexpr const char* kTotal = "loss";
constexpr const char* kMade = "Made by graphpae {}. One file, nothing is loaded from elsewhere.";

// A curve of one run or part.
struct Curve {
  std::string name;
  const Metrics* metrics;
  const Metrics::Column* column;
};

// Curves over the epochs of all of them; every k-th epoch if there are many.
void add_curves(Page& page, Chart chart, const std::vector<Curve>& curves) {
  std::set<int64_t> all;
  for (const Curve& curve : curves) all.insert(curve.metrics->epochs.begin(), curve.metrics->epochs.end());
  if (all.empty()) return;
  std::vector<int64_t> epochs(all.begin(), all.end()), kept;
  const size_t step = (epochs.size() + kChartPoints - 1) / kChartPoints;
  for (size_t e = 0; e < epochs.size(); e += step) kept.push_back(epochs[e]);
  if (kept.back() != epochs.back()) kept.push_back(epochs.back());
  if (step > 1) chart.x_title = fmt::format("epoch (every {}th is shown)", step);
  for (const int64_t epoch : kept) chart.points.push_back(std::to_string(epoch));
  for (const auto& [name, metrics, column] : curves) {
    ChartSeries series{name, {}};
    size_t line = 0;
    for (const int64_t epoch : kept) {
      while (line < metrics->epochs.size() && metrics->epochs[line] < epoch) ++line;
      const bool there = line < metrics->epochs.size() && metrics->epochs[line] == epoch;
      double value = there ? column->values[line] : std::nan("");
      if (chart.logarithmic && !(value > 0)) value = std::nan("");
      series.values.push_back(value);
    }
    chart.series.push_back(std::move(series));
  }
  page.add_chart(chart);
}

// All parts of all runs, with names that tell them apart; "" if there is but one.
std::vector<std::pair<std::string, const Metrics*>> parts_of(const std::vector<RunRecord>& runs) {
  std::vector<std::pair<std::string, const Metrics*>> parts;
  for (const RunRecord& run : runs) {
    for (const auto& part : run.parts) {
      std::string name = runs.size() > 1 ? run.name : "";
      if (!part.name.empty()) name += (name.empty() ? "" : ", ") + part.name;
      parts.emplace_back(name, &part.metrics);
    }
  }
  return parts;
}

// "loss_feature" is the term "feature".
std::string term_title(const std::string& column) {
  return with_blanks(column.starts_with("loss_") ? column.substr(5) : column);
}

void add_losses(Page& page, const std::vector<RunRecord>& runs) {
  const auto parts = parts_of(runs);
  // The columns that begin with "loss": the total, then the terms of the method in the order of their appearance.
  std::vector<std::string> losses = {kTotal};
  size_t lines = 0;
  for (const auto& [name, metrics] : parts) {
    lines += metrics->epochs.size();
    for (const auto& column : metrics->columns) {
      const bool known = std::find(losses.begin(), losses.end(), column.name) != losses.end();
      if (column.name.starts_with(kTotal) && !known) losses.push_back(column.name);
    }
  }
  page.add_heading("Training");
  if (lines == 0) return page.add_text("No epoch is finished.");
  // A term that is less than half as large as the total, wherever it first appears, needs an axis of its own.
  const auto is_large = [&](const std::string& column) {
    for (const auto& [name, metrics] : parts) {
      const Metrics::Column *total = metrics->find(kTotal), *term = metrics->find(column);
      if (total != nullptr && term != nullptr) return 2 * term->mean() >= total->mean();
    }
    return true;
  };
  const auto add_column = [&](const std::string& column, const std::string& title, const std::string& y,
                              bool logarithmic = false) {
    std::vector<Curve> curves;
    for (const auto& [name, metrics] : parts) {
      if (const Metrics::Column* found = metrics->find(column))
        curves.push_back({name.empty() ? y : name, metrics, found});
    }
    add_curves(page, {title, "epoch", y, Chart::Kind::lines, logarithmic, column == "lr"}, curves);
  };
  // The large terms of one run are drawn together with the total.
  std::vector<std::string> apart;
  std::vector<Curve> together;
  for (const std::string& column : losses) {
    if (parts.size() > 1 || !is_large(column))
      apart.push_back(column);
    else if (const Metrics::Column* found = parts.front().second->find(column))
      together.push_back({term_title(column), parts.front().second, found});
  }
  add_curves(page, {together.size() > 1 ? "Loss and what makes up most of it" : "Loss", "epoch", "loss"}, together);
  for (const std::string& column : apart)
    add_column(column, column == kTotal ? "Loss" : "Loss term: " + term_title(column), term_title(column),
               !is_large(column));
  add_column("validation", "Score on the validation part", "score");
  add_column("lr", "Learning rate", "learning rate");
}

// A number of results.json; "" if it is not there.
std::string number_text(const RunRecord& run, const char* key, const char* format, double factor = 1) {
  const bool has = run.results.is_object() && run.results.contains(key) && run.results[key].is_number();
  return has ? fmt::format(fmt::runtime(format), factor * run.results[key].get<double>()) : "";
}

void add_results(Page& page, const RunRecord& run) {
  page.add_heading("Results");
  const std::vector<ResultScore> scores = result_scores(run.results);
  add_score_charts(page, scores);
  Page::Rows rows;
  for (const ResultScore& s : scores) rows.push_back({s.protocol, s.row, s.metric, s.mean, s.deviation, s.interval});
  if (rows.empty())
    page.add_text(fmt::format("Not evaluated. `graphpae evaluate {} DATA` does so and adds the table here.", run.path));
  else
    page.add_table({"protocol", "", "metric", "mean", "std", "95% interval"}, rows);
  if (const std::string summary = evaluation_summary(run.results); !summary.empty()) page.add_text(summary);
  Page::Rows facts;
  const auto fact = [&](const char* title, const char* key, const char* format, double factor = 1) {
    const std::string text = number_text(run, key, format, factor);
    if (!text.empty()) facts.push_back({title, text});
  };
  fact("epochs", "epochs", "{:.0f}");
  fact("final loss", "final_loss", "{:.6g}");
  fact("seconds", "seconds", "{:.1f}");
  fact("seconds per epoch", "seconds_per_epoch", "{:.3g}");
  fact("molecules per second", "molecules_per_second", "{:.0f}");
  fact("nodes per second", "nodes_per_second", "{:.0f}");
  fact("peak memory in GB", "peak_rss_bytes", "{:.2f}", 1e-9);
  if (!facts.empty()) page.add_table({"training", ""}, facts);
  if (const ConfusionCounts confusion = confusion_counts(run.results); !confusion.names.empty()) {
    page.add_heading("Confusion");
    page.add_text(confusion.about);
    page.add_confusion(confusion.names, confusion.counts);
  }
}

void add_embedding_map(Page& page, const RunRecord& run) {
  page.add_heading("Map of the embeddings");
  const std::string path = run.path + "/map.json";
  if (!fs::exists(path))
    return page.add_text(fmt::format("There is no map yet. `graphpae report {} --data DATA` makes one.", run.path));
  const EmbeddingMap map = read_map(path);
  for (const std::string& note : map.notes) page.add_text(note);
  if (map.ids.empty() || map.projections.empty()) return page.add_text("The map has no points.");
  page.add_map(map);
}

void add_spectrum(Page& page, const RunRecord& run, const std::string& directory) {
  const std::string path = (directory.empty() ? run.path + "/spectrum" : directory) + "/spectrum.json";
  if (!fs::exists(path)) {
    if (directory.empty()) return;
    throw data_error(fmt::format("{}: no spectrum, it has no spectrum.json", directory));
  }
  page.add_heading("Spectrum");
  add_spectrum_charts(page, read_file(path, size_t{64} << 20), path);
}

// A line per score that any run has, a column per run.
void add_scores(Page& page, const std::vector<RunRecord>& runs) {
  using Key = std::vector<std::string>;  // protocol, row, metric
  std::vector<Key> keys;
  std::vector<std::map<Key, std::string>> cells(runs.size());
  std::vector<ResultScore> subjects;  // of each run, what it is about
  for (size_t r = 0; r < runs.size(); ++r) {
    for (const ResultScore& s : result_scores(runs[r].results)) {
      if (s.row == "embeddings" || s.row == "test part") {
        subjects.push_back(s);
        subjects.back().row = runs[r].name;
      }
      const Key key{s.protocol, s.row, s.metric};
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
      const bool one = s.deviation == "one score";
      cells[r][key] = s.mean +
                      (s.deviation.empty() ? ""
                       : one               ? " (one score)"
                                           : " \u00b1 " + s.deviation) +
                      (s.interval.empty() ? "" : " (" + s.interval + ")");
    }
  }
  std::vector<std::string> head = {"protocol", "", "metric"};
  for (const RunRecord& run : runs) head.push_back(run.name);
  Page::Rows rows;
  for (const Key& key : keys) {
    rows.push_back(key);
    for (auto& of_run : cells) rows.back().push_back(of_run[key]);
  }
  const auto fact = [&](const char* title, const char* key, const char* format) {
    std::vector<std::string> row = {"", title, ""};
    for (const RunRecord& run : runs) row.push_back(number_text(run, key, format));
    if (std::any_of(row.begin() + 3, row.end(), [](const std::string& text) { return !text.empty(); }))
      rows.push_back(row);
  };
  fact("final loss", "final_loss", "{:.6g}");
  fact("epochs", "epochs", "{:.0f}");
  fact("seconds", "seconds", "{:.1f}");
  fact("seconds per epoch", "seconds_per_epoch", "{:.3g}");
  page.add_heading("Results");
  if (rows.empty()) return page.add_text("None of the runs has results.");
  add_score_charts(page, subjects);
  if (!keys.empty()) page.add_text("Mean \u00b1 standard deviation, and the 95 % interval of the mean.");
  page.add_table(head, rows);
}

void add_differences(Page& page, const std::vector<RunRecord>& runs) {
  std::vector<std::string> keys, head = {"setting"};
  for (const RunRecord& run : runs) {
    head.push_back(run.name);
    for (const auto& [key, value] : run.settings) {
      if (std::find(keys.begin(), keys.end(), key) == keys.end()) keys.push_back(key);
    }
  }
  Page::Rows differing, same;
  for (const std::string& key : keys) {
    std::vector<std::string> row = {key};
    for (const RunRecord& run : runs) {
      const std::string* value = find_setting(run.settings, key);
      row.push_back(key == "method" ? run.method() : value == nullptr ? "(none)" : *value);
    }
    const bool equal =
        std::all_of(row.begin() + 1, row.end(), [&](const std::string& value) { return value == row[1]; });
    if (equal)
      same.push_back({key, row[1]});
    else
      differing.push_back(std::move(row));
  }
  for (const char* key : {"data", "data_hash", "version", "commit", "kernels", "threads", "pretrained"}) {
    std::vector<std::string> row = {key};
    for (const RunRecord& run : runs) row.push_back(run.environment_text(key));
    if (std::any_of(row.begin() + 1, row.end(), [&](const std::string& value) { return value != row[1]; }))
      differing.push_back(std::move(row));
  }
  page.add_heading("What differs");
  if (differing.empty())
    page.add_text("Nothing: settings, data and program are the same.");
  else
    page.add_table(head, differing);
  page.add_details(fmt::format("{} settings that are the same", same.size()), {"setting", ""}, same);
}

}  // namespace

std::string run_report(const std::string& path, const std::string& spectrum) {
  std::vector<RunRecord> runs = {read_run(path)};
  const RunRecord& run = runs.front();
  if (is_auto_run(run)) return auto_report(run);
  Page page(run.name);
  const std::string data = run.environment_text("data"), started = run.environment_text("started");
  if (const Verdict found = verdict(run.results); !found.text.empty()) page.add_verdict(found.text, found.standing);
  page.add_text(
      fmt::format("{} on {}{}.", run.fine_tuned() ? "Fine-tuned" : "Pre-trained without labels by " + run.method(),
                  data.empty() ? "data that are not named" : data, started.empty() ? "" : ", started " + started));
  for (const std::string& note : run.notes) page.add_note(note);
  add_data_facts(page, run);
  add_results(page, run);
  add_prediction_charts(page, run);
  add_losses(page, runs);
  if (!run.fine_tuned() || fs::exists(path + "/map.json")) add_embedding_map(page, run);
  add_spectrum(page, run, spectrum);
  add_repeat(page, run);
  page.add_heading("Settings and environment");
  Page::Rows settings, environment;
  for (const auto& [key, value] : run.settings) settings.push_back({key, value});
  for (const auto& [key, value] : run.environment.items()) {
    if (!value.is_structured()) environment.push_back({key, run.environment_text(key)});
  }
  page.add_details(fmt::format("{} settings", settings.size()), {"setting", ""}, settings);
  page.add_details("environment", {"", ""}, environment);
  page.add_text(fmt::format(kMade, kVersion));
  return page.html();
}

std::string comparison_report(const std::vector<std::string>& paths) {
  std::vector<RunRecord> runs;
  std::map<std::string, int> count;
  for (const std::string& path : paths) {
    runs.push_back(read_run(path));
    ++count[runs.back().name];
  }
  // Names that tell runs apart: the last part of the path, or all of it where that is the same.
  for (RunRecord& run : runs) {
    if (count[run.name] > 1) run.name = run.path;
  }
  Page page(fmt::format("{} runs compared", runs.size()));
  for (const RunRecord& run : runs) {
    for (const std::string& note : run.notes) page.add_note(run.name + ": " + note);
  }
  add_scores(page, runs);
  add_losses(page, runs);
  add_differences(page, runs);
  page.add_heading("The runs");
  Page::Rows rows;
  for (const RunRecord& run : runs)
    rows.push_back(
        {run.name, run.environment_text("data"), run.environment_text("started"), run.environment_text("command")});
  page.add_table({"run", "data", "started", "command"}, rows);
  page.add_text(fmt::format(kMade, kVersion));
  return page.html();
}

}  // namespace graphpae
