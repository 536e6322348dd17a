#include "graphpae/report/auto_report.h"

#include <fmt/format.h>

#include <filesystem>

#include "graphpae/report/page.h"
#include "graphpae/version.h"

namespace graphpae {
namespace {

using AutoJson = nlohmann::ordered_json;

// How scores of this run are written.
struct AutoScale {
  std::string title;
  double factor = 100;
  int decimals = 1;

  std::string operator()(const AutoJson& value) const {
    return value.is_number() ? fmt::format("{:.{}f}", factor * value.get<double>(), decimals) : "";
  }
  std::string interval(const AutoJson& bounds) const {
    const bool there = bounds.is_array() && bounds.size() == 2 && bounds[0].is_number();
    return there ? (*this)(bounds[0]) + " .. " + (*this)(bounds[1]) : "";
  }
};

AutoScale scale_of(const AutoJson& results) {
  const std::string metric = results.value("metric", "");
  if (metric == "rmse") return {"RMSE (smaller is better)", 1, 3};
  return {metric == "accuracy" ? "accuracy in %" : "ROC-AUC in %", 100, 1};
}

void add_scores_of(Page& page, const AutoJson& results, const AutoScale& scale) {
  page.add_heading("Scores");
  page.add_text(
      fmt::format("{}, mean over {} split{} ({}). Chosen with training and validation rows; the test rows of a "
                  "split were looked at once, after everything was chosen for it.",
                  scale.title, results["splits"].get<int64_t>(), results["splits"] == 1 ? "" : "s",
                  results.value("split_source", "")));
  Page::Rows rows = {
      {"what was chosen", scale(results["mean"]), scale(results["std"]), scale.interval(results["ci95"])}};
  const auto add = [&](const std::string& name, const AutoJson& score) {
    rows.push_back({name, scale(score["mean"]), scale(score["std"]), scale.interval(score["ci95"])});
  };
  for (const auto& [name, score] : results["blocks"].items()) add(name + " alone", score);
  add("majority class or mean", results["baselines"]["majority"]);
  page.add_table({"", "mean", "std", "95% interval"}, rows);
  Chart chart{"Test scores", "", scale.title, Chart::Kind::bars, false, true};
  ChartSeries series{"mean", {}};
  const auto bar = [&](const std::string& name, const AutoJson& score) {
    chart.points.push_back(name);
    series.values.push_back(scale.factor * score.get<double>());
  };
  bar("chosen", results["mean"]);
  for (const auto& [name, score] : results["blocks"].items()) bar(name, score["mean"]);
  chart.series.push_back(std::move(series));
  page.add_chart(chart);
}

void add_choice(Page& page, const AutoJson& chosen, const AutoScale& scale) {
  page.add_heading("What was chosen, and why");
  page.add_text(
      "Each block is seen by kernels (linear, Gaussian, min-max of counts). The search starts with the best one alone "
      "and "
      "adds the one that helps most, as long as it helps by more than a quarter of a standard error. Weights are "
      "shares "
      "of the whole; a block that is not listed did not help.");
  Page::Rows mean;
  for (const auto& [name, weight] : chosen["blocks"].items())
    mean.push_back({name, fmt::format("{:.2f}", weight.get<double>())});
  page.add_table({"block", "weight, mean over splits"}, mean);
  Page::Rows rows, steps;
  int64_t number = 0;
  for (const AutoJson& split : chosen["per_split"]) {
    std::string what;
    for (const AutoJson& one : split["blocks"])
      what += fmt::format("{}{} ({}) {:.2f}", what.empty() ? "" : ", ", one.value("block", ""), one.value("kernel", ""),
                          one["weight"].get<double>());
    if (split.value("gaussian_over_sum", false)) what += ", Gaussian over the sum";
    rows.push_back({std::to_string(number), what, scale(split["val"]), scale(split["test"])});
    for (const AutoJson& step : split["steps"])
      steps.push_back({std::to_string(number), step.value("added", ""), scale(step["score"])});
    ++number;
  }
  page.add_table({"split", "blocks with weights", "validation", "test"}, rows);
  page.add_details("the search, step by step", {"split", "added", "score on rows that judged"}, steps);
}

void add_models(Page& page, const RunRecord& run, const AutoJson& models) {
  page.add_heading("Pre-training");
  if (models.empty()) return page.add_text("Nothing was pre-trained.");
  for (const AutoJson& model : models) {
    const std::string name = model.value("name", ""), path = run.path + "/pretraining/" + name;
    page.add_text(fmt::format("{}: {} epochs. Its own page is pretraining/{}/report.html.", model.value("method", ""),
                              model.value("epochs", 0), name));
    if (!std::filesystem::exists(path + "/metrics.jsonl")) continue;
    const Metrics metrics = read_metrics(path + "/metrics.jsonl");
    const Metrics::Column* loss = metrics.find("loss");
    if (loss == nullptr) continue;
    Chart chart{"Loss of " + name, "epoch", "loss"};
    for (const int64_t epoch : metrics.epochs) chart.points.push_back(std::to_string(epoch));
    chart.series.push_back({"loss", loss->values});
    page.add_chart(chart);
  }
}

}  // namespace

bool is_auto_run(const RunRecord& run) {
  const std::string* verb = find_setting(run.settings, "verb");
  return verb != nullptr && *verb == "auto";
}

std::string auto_report(const RunRecord& run) {
  Page page(run.name);
  const std::string data = run.environment_text("data");
  page.add_text(fmt::format("graphpae auto on {}.", data.empty() ? "data that are not named" : data));
  const AutoJson& results = run.results;
  if (!results.is_object() || !results.contains("plan")) {
    page.add_note("This run is not finished: it was interrupted, or is still under way. --resume goes on with it.");
  } else {
    page.add_note(results.value("verdict", ""));
    for (const AutoJson& note : results["plan"]["notes"]) page.add_text(note.get<std::string>());
    if (results.contains("mean")) {
      const AutoScale scale = scale_of(results);
      add_scores_of(page, results, scale);
      add_choice(page, results["chosen"], scale);
    }
    add_models(page, run, results["plan"]["models"]);
    page.add_heading("Files");
    Page::Rows files = {{"embeddings.npy", "the chosen blocks side by side, reduced; a row per node or molecule"}};
    if (results["predictions"].is_string())
      files.push_back({"predictions.csv", "of all rows that the last fit has not seen, with probabilities of classes"});
    page.add_table({"file", ""}, files);
  }
  page.add_heading("Map of the embeddings");
  if (const std::string path = run.path + "/map.json"; std::filesystem::exists(path)) {
    const EmbeddingMap map = read_map(path);
    for (const std::string& note : map.notes) page.add_text(note);
    if (!map.ids.empty() && !map.projections.empty()) page.add_map(map);
  } else {
    page.add_text("There is no map yet.");
  }
  page.add_heading("Again");
  if (const std::string command = run.environment_text("command"); !command.empty()) page.add_code(command);
  Page::Rows settings, environment;
  for (const auto& [key, value] : run.settings) settings.push_back({key, value});
  for (const auto& [key, value] : run.environment.items()) environment.push_back({key, run.environment_text(key)});
  page.add_details(fmt::format("{} settings", settings.size()), {"setting", ""}, settings);
  page.add_details("environment", {"", ""}, environment);
  page.add_text(fmt::format("Made by graphpae {}. One file, nothing is loaded from elsewhere.", kVersion));
  return page.html();
}

}  // namespace graphpae
