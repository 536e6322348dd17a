#include "graphpae/reproduce/job_result.h"

#include <nlohmann/json.hpp>

#include "graphpae/evaluate/statistics.h"

namespace graphpae {
namespace {

using Json = nlohmann::ordered_json;
using Scores = std::vector<std::vector<double>>;

// Records and `evaluate` say the same, but for the name of the scores.
ProtocolRecord probe_record(const Json& json, const char* scores) {
  ProtocolRecord protocol;
  protocol.scores = json.at(scores).get<Scores>();
  if (json.contains("val") && json["val"].is_number()) protocol.validation = json["val"].get<double>();
  if (json.contains("baselines")) {
    for (const auto& [name, baseline] : json["baselines"].items())
      protocol.baselines[name] = {baseline.at("mean").get<double>(), baseline.at("std").get<double>()};
  }
  return protocol;
}

ProtocolRecord finetune_record(const Json& json, const std::string& metric) {
  ProtocolRecord protocol;
  if (json.contains("per_split")) {
    for (const double score : json["per_split"].get<std::vector<double>>()) protocol.scores.push_back({score});
  } else if (json.contains("tasks")) {
    std::vector<double> values;
    for (const Json& task : json["tasks"]) {
      if (!task.contains(metric) || !task[metric].is_number()) continue;
      values.push_back(task[metric].get<double>());
      protocol.targets[task.at("name").get<std::string>()] = values.back();
    }
    if (!values.empty()) protocol.scores = {{statistics(values).mean}};
  } else {
    protocol.scores = {{json.at("test_mean").get<double>()}};
  }
  if (json.contains("validation") && json["validation"].is_number())
    protocol.validation = json["validation"].get<double>();
  return protocol;
}

JobResult result_of_verb(const Json& json, const std::string& metric) {
  JobResult result;
  const auto name = [&](const char* key) { return json.at(key).get<std::string>(); };
  if (json.contains("per_split_and_seed")) {  // evaluate
    result.metric = name("metric");
    result.protocols[name("protocol")] = probe_record(json, "per_split_and_seed");
    if (json.contains("paper")) result.protocols["paper"] = probe_record(json["paper"], "per_split_and_seed");
    return result;
  }
  result.training_seconds = json.at("seconds").get<double>();
  result.seconds_per_epoch = json.at("seconds_per_epoch").get<double>();
  result.peak_rss_bytes = json.value("peak_rss_bytes", int64_t{0});
  if (json.contains("protocol")) {  // finetune
    result.metric = metric.empty() ? name("metric") : metric;
    result.protocols[name("protocol")] = finetune_record(json, result.metric);
  }
  return result;
}

}  // namespace

std::optional<JobResult> job_result_of_verb(const std::string& printed, const std::string& metric) {
  try {
    return result_of_verb(Json::parse(printed), metric);
  } catch (const Json::exception&) {
    return std::nullopt;
  }
}

std::string printed_data_hash(const std::string& printed) {
  const Json json = Json::parse(printed, nullptr, false);
  return json.is_object() ? json.value("data_hash", std::string()) : "";
}

void to_json(Json& json, const ProtocolRecord& protocol) {
  json = {{"scores", protocol.scores}};
  if (!protocol.targets.empty()) json["targets"] = protocol.targets;
  if (protocol.validation) json["val"] = *protocol.validation;
  for (const auto& [name, baseline] : protocol.baselines)
    json["baselines"][name] = {{"mean", baseline.mean}, {"std", baseline.deviation}};
}

void from_json(const Json& json, ProtocolRecord& protocol) {
  protocol = probe_record(json, "scores");
  if (json.contains("targets")) json["targets"].get_to(protocol.targets);
}

}  // namespace graphpae
