#include "graphpae/report/result_tables.h"

#include <fmt/format.h>

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

std::string text_at(const Json& json, const char* key) {
  return json.is_object() && json.contains(key) && json[key].is_string() ? json[key].get<std::string>() : "";
}

std::string number_text(const Json& json, const char* key, const Format& format) {
  if (!json.is_object() || !json.contains(key) || !json[key].is_number()) return "";
  return fmt::format("{:.{}f}", format.factor * json[key].get<double>(), format.decimals);
}

ResultScore score(const Json& json, const std::string& row, const std::string& protocol, const Format& format) {
  ResultScore result{protocol, row, format.title, number_text(json, "mean", format), number_text(json, "std", format),
                     ""};
  if (json.contains("ci95") && json["ci95"].is_array() && json["ci95"].size() == 2 && json["ci95"][0].is_number()) {
    const auto bound = [&](int k) {
      return fmt::format("{:.{}f}", format.factor * json["ci95"][k].get<double>(), format.decimals);
    };
    result.interval = bound(0) + " .. " + bound(1);
  }
  return result;
}

std::string baseline_title(const std::string& key, const std::string& metric) {
  if (key == "untrained") return "untrained encoder";
  if (key == "majority")
    return metric == "accuracy" ? "majority class" : metric == "rmse" ? "mean of the labels" : "constant score";
  std::string title = key;
  for (char& c : title) c = c == '_' ? ' ' : c;
  return title;
}

void add_protocol(const Json& json, std::vector<ResultScore>& scores) {
  const Format format = format_of(text_at(json, "metric"));
  std::string protocol = text_at(json, "protocol");
  if (json.contains("inflated")) protocol += " (INFLATED)";
  scores.push_back(score(json, "embeddings", protocol, format));
  if (json.contains("against") && json["against"].is_object())
    scores.push_back(score(json["against"], "against " + text_at(json["against"], "run"), protocol, format));
  if (json.contains("baselines") && json["baselines"].is_object()) {
    for (const auto& [key, baseline] : json["baselines"].items())
      scores.push_back(score(baseline, baseline_title(key, text_at(json, "metric")), protocol, format));
  }
  // Tasks of molecules beside their mean.
  if (json.contains("tasks") && json["tasks"].is_array() && json["tasks"].size() > 1) {
    for (const Json& task : json["tasks"])
      scores.push_back(score(task, "embeddings: " + text_at(task, "task"), protocol, format));
  }
}

// Fine-tuning: the test part, by task or over splits.
void add_finetuning(const Json& results, std::vector<ResultScore>& scores) {
  const std::string protocol = text_at(results, "protocol");
  if (results.contains("tasks") && results["tasks"].is_array()) {
    for (const Json& task : results["tasks"]) {
      const std::string unit = text_at(task, "unit");
      for (const char* metric : {"rocauc", "mae", "rmse"}) {
        Format format = format_of(metric);
        const std::string value = number_text(task, metric, format);
        if (value.empty()) continue;
        scores.push_back({protocol, "test part: " + text_at(task, "name"),
                          format.title + (unit.empty() ? "" : " [" + unit + "]"), value, "", ""});
      }
    }
    return;
  }
  const Format format = format_of(text_at(results, "metric"));
  if (results.contains("mean") && results["mean"].is_number())
    scores.push_back(score(results, "test part", protocol, format));
  else if (const std::string value = number_text(results, "test_mean", format); !value.empty())
    scores.push_back({protocol, "test part", format.title, value, "", ""});
  if (const std::string value = number_text(results, "validation", format); !value.empty())
    scores.push_back({protocol, "validation part", format.title, value, "", ""});
}

const Json* evaluation_of(const Json& results) {
  if (!results.is_object() || !results.contains("evaluation") || !results["evaluation"].is_object()) return nullptr;
  return &results["evaluation"];
}

}  // namespace

std::vector<ResultScore> result_scores(const Json& results) {
  std::vector<ResultScore> scores;
  if (const Json* evaluation = evaluation_of(results)) {
    add_protocol(*evaluation, scores);
    if (evaluation->contains("paper") && (*evaluation)["paper"].is_object())
      add_protocol((*evaluation)["paper"], scores);
  }
  if (results.is_object() && results.contains("test_mean")) add_finetuning(results, scores);
  return scores;
}

ConfusionCounts confusion_counts(const Json& results) {
  ConfusionCounts confusion;
  const Json* evaluation = evaluation_of(results);
  if (evaluation == nullptr || !evaluation->contains("confusion") || !evaluation->contains("classes")) return confusion;
  try {
    for (const Json& one : (*evaluation)["classes"]) confusion.names.push_back(one.at("class"));
    confusion.counts = (*evaluation)["confusion"].get<std::vector<std::vector<double>>>();
  } catch (const Json::exception&) {
    return {};
  }
  bool square = confusion.counts.size() == confusion.names.size();
  for (const auto& row : confusion.counts) square = square && row.size() == confusion.names.size();
  if (!square) return {};
  confusion.about =
      fmt::format("Protocol {}: shares of the tested rows of each class, and how many, added up over splits and seeds.",
                  text_at(*evaluation, "protocol"));
  return confusion;
}

std::string evaluation_summary(const Json& results) {
  const Json* evaluation = evaluation_of(results);
  if (evaluation == nullptr) return "";
  const auto count = [&](const char* key) {
    return evaluation->contains(key) && (*evaluation)[key].is_number() ? (*evaluation)[key].get<int64_t>() : 0;
  };
  const int64_t splits = count("splits"), seeds = count("seeds");
  std::string text = fmt::format("{} split{} ({}) x {} seed{}.", splits, splits == 1 ? "" : "s",
                                 text_at(*evaluation, "split_source"), seeds, seeds == 1 ? "" : "s");
  if (evaluation->contains("inflated") ||
      (evaluation->contains("paper") && (*evaluation)["paper"].contains("inflated")))
    text +=
        " The paper's protocol tests nodes it was trained on and is for comparison with the paper only; strict is the "
        "honest number.";
  if (count("test_twins") > 0)
    text += fmt::format(" {} of {} test nodes share features and neighbourhood with a training node{}.",
                        count("test_twins"), count("test_nodes"),
                        evaluation->value("dedupe", false) ? " and were left out" : "");
  return text;
}

}  // namespace graphpae
