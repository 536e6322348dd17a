#include <fmt/format.h>

#include "graphpae/report/page.h"
#include "graphpae/report/run_report.h"

namespace graphpae {
namespace {

using Json = nlohmann::ordered_json;

// How scores of a metric are written.
struct Format {
  std::string title;
  double factor;
  int decimals;
};

Format format_of(const std::string& metric) {
  if (metric == "accuracy") return {"accuracy in %", 100, 2};
  if (metric == "rocauc") return {"ROC-AUC in %", 100, 2};
  if (metric == "rmse") return {"RMSE", 1, 3};
  if (metric == "mae") return {"MAE", 1, 4};
  return {metric, 1, 4};
}

// What stands at a key; null if nothing does.
const Json& at(const Json& json, const char* key) {
  static const Json none;
  return json.is_object() && json.contains(key) ? json[key] : none;
}

std::string text_at(const Json& json, const char* key) {
  return at(json, key).is_string() ? at(json, key).get<std::string>() : "";
}

std::string number_text(const Json& number, const Format& format) {
  return number.is_number() ? fmt::format("{:.{}f}", format.factor * number.get<double>(), format.decimals) : "";
}

ResultScore score(const Json& json, const std::string& row, const std::string& protocol, const Format& format) {
  ResultScore result{
      protocol, row, format.title, number_text(at(json, "mean"), format), number_text(at(json, "std"), format), ""};
  if (const Json& bounds = at(json, "ci95"); bounds.is_array() && bounds.size() == 2 && bounds[0].is_number())
    result.interval = number_text(bounds[0], format) + " .. " + number_text(bounds[1], format);
  return result;
}

std::string baseline_title(const std::string& key, const std::string& metric) {
  if (key == "untrained") return "untrained encoder";
  if (key == "majority")
    return metric == "accuracy" ? "majority class" : metric == "rmse" ? "mean of the labels" : "constant score";
  return with_blanks(key);
}

void add_protocol(const Json& json, std::vector<ResultScore>& scores) {
  const std::string metric = text_at(json, "metric");
  const Format format = format_of(metric);
  const std::string protocol = text_at(json, "protocol") + (json.contains("inflated") ? " (INFLATED)" : "");
  scores.push_back(score(json, "embeddings", protocol, format));
  if (const Json& against = at(json, "against"); against.is_object())
    scores.push_back(score(against, "against " + text_at(against, "run"), protocol, format));
  if (at(json, "baselines").is_object()) {
    for (const auto& [key, baseline] : json["baselines"].items())
      scores.push_back(score(baseline, baseline_title(key, metric), protocol, format));
  }
  // Tasks of molecules beside their mean.
  if (const Json& tasks = at(json, "tasks"); tasks.is_array() && tasks.size() > 1) {
    for (const Json& task : tasks)
      scores.push_back(score(task, "embeddings: " + text_at(task, "task"), protocol, format));
  }
}

// Fine-tuning: the test part, by task or over splits.
void add_finetuning(const Json& results, std::vector<ResultScore>& scores) {
  const std::string protocol = text_at(results, "protocol");
  const auto add = [&](const std::string& row, const std::string& title, const std::string& value) {
    if (!value.empty()) scores.push_back({protocol, row, title, value, "", ""});
  };
  if (const Json& tasks = at(results, "tasks"); tasks.is_array()) {
    for (const Json& task : tasks) {
      const std::string unit = text_at(task, "unit");
      for (const char* metric : {"rocauc", "mae", "rmse"}) {
        const Format format = format_of(metric);
        add("test part: " + text_at(task, "name"), format.title + (unit.empty() ? "" : " [" + unit + "]"),
            number_text(at(task, metric), format));
      }
    }
    return;
  }
  const Format format = format_of(text_at(results, "metric"));
  if (at(results, "mean").is_number())
    scores.push_back(score(results, "test part", protocol, format));
  else
    add("test part", format.title, number_text(results["test_mean"], format));
  add("validation part", format.title, number_text(at(results, "validation"), format));
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
