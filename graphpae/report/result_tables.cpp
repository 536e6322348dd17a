#include <fmt/format.h>

#include "graphpae/report/page.h"
#include "graphpae/report/result_numbers.h"
#include "graphpae/report/run_report.h"

namespace graphpae {
namespace {

using Json = nlohmann::ordered_json;
using namespace results;

// `scores`: how many the row has; 0 if that is not said.
ResultScore score(const Json& json, const std::string& row, const std::string& protocol, const Format& format,
                  int64_t scores) {
  const auto number = [&](const Json& value) {
    return value.is_number() ? format.factor * value.get<double>() : ResultScore::kNone;
  };
  ResultScore result;
  result.protocol = protocol;
  result.row = row;
  result.metric = format.title;
  result.mean = number_text(at(json, "mean"), format);
  result.value = number(at(json, "mean"));
  const Json& bounds = at(json, "ci95");
  const bool has_interval = bounds.is_array() && bounds.size() == 2 && bounds[0].is_number() && bounds[1].is_number();
  if (has_interval) {
    result.interval = number_text(bounds[0], format) + " .. " + number_text(bounds[1], format);
    result.low = number(bounds[0]);
    result.high = number(bounds[1]);
  }
  // One score has no deviation, though 0 may be written for it.
  const bool one = scores > 0 ? scores == 1 : !has_interval && at(json, "std") == 0;
  result.deviation = one ? "one score" : number_text(at(json, "std"), format);
  return result;
}

int64_t count_at(const Json& json, const char* key) { return at(json, key).is_number() ? json[key].get<int64_t>() : 0; }

void add_protocol(const Json& json, std::vector<ResultScore>& scores) {
  const std::string metric = text_at(json, "metric");
  const Format format = format_of(metric);
  const std::string protocol = text_at(json, "protocol") + (json.contains("inflated") ? " (INFLATED)" : "");
  const int64_t count = count_at(json, "splits") * count_at(json, "seeds");
  const auto add = [&](const Json& of, const std::string& row, bool trained) {
    scores.push_back(score(of, row, protocol, format, count));
    scores.back().trained = trained;
  };
  add(json, "embeddings", true);
  if (const Json& against = at(json, "against"); against.is_object())
    add(against, "against " + text_at(against, "run"), true);
  for (const char* kind : {"baselines", "blocks"}) {
    if (!at(json, kind).is_object()) continue;
    for (const auto& [key, row] : json[kind].items()) {
      if (row.is_object()) add(row, row_title(row, key, metric), false);
    }
  }
  // Tasks of molecules beside their mean.
  if (const Json& tasks = at(json, "tasks"); tasks.is_array() && tasks.size() > 1) {
    for (const Json& task : tasks)
      scores.push_back(score(task, "embeddings: " + text_at(task, "task"), protocol, format, 0));
  }
}

// Fine-tuning: the test part, by task or over splits.
void add_finetuning(const Json& results, std::vector<ResultScore>& scores) {
  const std::string protocol = text_at(results, "protocol");
  const auto add = [&](const std::string& row, const Format& format, const std::string& unit, const Json& value) {
    if (!value.is_number()) return;
    ResultScore result;
    result.protocol = protocol;
    result.row = row;
    result.metric = format.title + (unit.empty() ? "" : " [" + unit + "]");
    result.mean = number_text(value, format);
    result.value = format.factor * value.get<double>();
    scores.push_back(result);
  };
  if (const Json& tasks = at(results, "tasks"); tasks.is_array()) {
    for (const Json& task : tasks) {
      for (const char* metric : {"rocauc", "mae", "rmse"})
        add("test part: " + text_at(task, "name"), format_of(metric), text_at(task, "unit"), at(task, metric));
    }
    return;
  }
  const Format format = format_of(text_at(results, "metric"));
  if (at(results, "mean").is_number())
    scores.push_back(
        score(results, "test part", protocol, format, static_cast<int64_t>(at(results, "per_split").size())));
  else
    add("test part", format, "", results["test_mean"]);
  add("validation part", format, "", at(results, "validation"));
}

}  // namespace

std::vector<ResultScore> result_scores(const Json& results) {
  std::vector<ResultScore> scores;
  const Json& evaluation = at(results, "evaluation");
  if (evaluation.is_object()) add_protocol(evaluation, scores);
  if (const Json& paper = at(evaluation, "paper"); paper.is_object()) add_protocol(paper, scores);
  if (results.is_object() && results.contains("test_mean")) add_finetuning(results, scores);
  return scores;
}

ConfusionCounts confusion_counts(const Json& results) {
  ConfusionCounts confusion;
  const Json& evaluation = at(results, "evaluation");
  if (!evaluation.is_object() || !evaluation.contains("confusion") || !evaluation.contains("classes")) return confusion;
  try {
    for (const Json& one : evaluation["classes"]) confusion.names.push_back(one.at("class"));
    confusion.counts = evaluation["confusion"].get<std::vector<std::vector<double>>>();
  } catch (const Json::exception&) {
    return {};
  }
  bool square = confusion.counts.size() == confusion.names.size();
  for (const auto& row : confusion.counts) square = square && row.size() == confusion.names.size();
  if (!square) return {};
  confusion.about =
      fmt::format("Protocol {}: shares of the tested rows of each class, and how many, added up over splits and seeds.",
                  text_at(evaluation, "protocol"));
  return confusion;
}

std::string evaluation_summary(const Json& results) {
  const Json& evaluation = at(results, "evaluation");
  if (!evaluation.is_object()) return "";
  const auto count = [&](const char* key) {
    return at(evaluation, key).is_number() ? evaluation[key].get<int64_t>() : 0;
  };
  const int64_t splits = count("splits"), seeds = count("seeds");
  std::string text = fmt::format("{} split{} ({}) x {} seed{}.", splits, splits == 1 ? "" : "s",
                                 text_at(evaluation, "split_source"), seeds, seeds == 1 ? "" : "s");
  if (evaluation.contains("inflated") || at(evaluation, "paper").contains("inflated"))
    text +=
        " The paper's protocol tests nodes it was trained on and is for comparison with the paper only; strict is the "
        "honest number.";
  if (count("test_twins") > 0)
    text += fmt::format(" {} of {} test nodes share features and neighbourhood with a training node{}.",
                        count("test_twins"), count("test_nodes"),
                        evaluation.value("dedupe", false) ? " and were left out" : "");
  return text;
}

}  // namespace graphpae
