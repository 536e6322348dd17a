#include <algorithm>
#include <nlohmann/json.hpp>

#include "graphpae/evaluate/statistics.h"
#include "graphpae/run/evaluation.h"
#include "graphpae/run/finetune.h"
#include "graphpae/run/training_loop.h"

namespace graphpae::run {
namespace {

using Json = nlohmann::ordered_json;

Json mean_json(const std::vector<double>& values) { return values.empty() ? Json() : Json(statistics(values).mean); }

// Of the parts that have it.
std::vector<double> numbers(const std::vector<PartResult>& parts, std::optional<double> PartResult::*field) {
  std::vector<double> values;
  for (const PartResult& part : parts) {
    if (part.*field) values.push_back(*(part.*field));
  }
  return values;
}

Json target_json(const TargetResult& target) {
  if (target.classes) return {{"name", target.name}, {"rocauc", or_null(target.rocauc)}};
  Json json = {{"name", target.name}};
  if (!target.unit.empty()) json["unit"] = target.unit;
  json["mae"] = or_null(target.mae);
  json["rmse"] = or_null(target.rmse);
  json["training_std"] = target.training_std;
  json["mae_over_std"] = or_null(target.mae_over_std);
  if (!target.paper_unit.empty()) {
    json["paper_unit"] = target.paper_unit;
    json["mae_paper"] = or_null(target.mae_paper);
  }
  return json;
}

Json targets_json(const std::vector<TargetResult>& targets) {
  Json json = Json::array();
  for (const TargetResult& target : targets) json.push_back(target_json(target));
  return json;
}

void add_split(const PartResult& part, Json& json) {
  if (part.split_source.empty()) return;
  json["split_source"] = part.split_source;
  if (part.split_seed) json["split_seed"] = *part.split_seed;
}

Json test_json(const PartResult& part) {
  Json json = Json::object();
  for (const auto& [name, score] : part.test) json[name] = or_null(score);
  return json;
}

// A list over splits, an object over targets.
Json by_part(const FinetuneResult& result, int64_t PartResult::*field) {
  Json json = result.of_splits() ? Json::array() : Json::object();
  for (const PartResult& part : result.parts) {
    if (result.of_splits())
      json.push_back(part.*field);
    else
      json[part.name] = part.*field;
  }
  return json;
}

}  // namespace

int64_t FinetuneResult::epochs() const {
  int64_t most = 0;
  for (const PartResult& part : parts) most = std::max(most, part.epochs);
  return most;
}

double FinetuneResult::seconds() const {
  double sum = 0;
  for (const PartResult& part : parts) sum += part.seconds;
  return sum;
}

double FinetuneResult::seconds_per_epoch() const {
  std::vector<double> times;
  for (const PartResult& part : parts) times.push_back(part.seconds_per_epoch);
  return median(std::move(times));
}

std::vector<TargetResult> FinetuneResult::targets() const {
  std::vector<TargetResult> all;
  for (const PartResult& part : parts) all.insert(all.end(), part.targets.begin(), part.targets.end());
  return all;
}

std::vector<double> FinetuneResult::test_scores() const { return numbers(parts, &PartResult::test_mean); }

nlohmann::ordered_json results_json(const PartResult& part) {
  Json json = {{"epochs", part.epochs},
               {"final_loss", or_null(part.final_loss)},
               {"seconds", part.seconds},
               {"seconds_per_epoch", part.seconds_per_epoch},
               {"peak_rss_bytes", part.peak_bytes},
               {"protocol", name_of(part.protocol)},
               {"best_epoch", part.best_epoch},
               {"reported_epoch", part.reported_epoch},
               {"stopped_early", part.stopped_early},
               {"metric", part.metric},
               {"validation", or_null(part.validation)},
               {"test_mean", or_null(part.test_mean)},
               {"test", test_json(part)}};
  if (!part.targets.empty()) json["tasks"] = targets_json(part.targets);
  add_split(part, json);
  json["pretrained"] = part.pretrained;
  json["run"] = part.run;
  return json;
}

nlohmann::ordered_json results_json(const FinetuneResult& result) {
  const std::vector<PartResult>& parts = result.parts;
  if (!result.has_parts()) return results_json(parts.front());
  const std::vector<double> scores = result.test_scores();
  Json json = {{"epochs", result.epochs()},
               {"final_loss", mean_json(numbers(parts, &PartResult::final_loss))},
               {"seconds", result.seconds()},
               {"seconds_per_epoch", result.seconds_per_epoch()},
               {"peak_rss_bytes", parts.back().peak_bytes},
               {"protocol", name_of(parts.front().protocol)},
               {"metric", parts.front().metric},
               {"best_epoch", by_part(result, &PartResult::best_epoch)},
               {"reported_epoch", by_part(result, &PartResult::reported_epoch)},
               {"validation", mean_json(numbers(parts, &PartResult::validation))},
               {"test_mean", mean_json(scores)}};
  if (result.of_splits()) {
    json["test"] = {{"accuracy", mean_json(scores)}};
    json["splits"] = parts.size();
    json["per_split"] = scores;
    if (!scores.empty()) json.update(statistics_json(statistics(scores)));
  } else {
    json["test"] = Json::object();
    for (const PartResult& part : parts) json["test"].update(test_json(part));
    json["tasks"] = targets_json(result.targets());
  }
  add_split(parts.front(), json);
  json["pretrained"] = parts.front().pretrained;
  json["parts"] = Json::array();
  for (const PartResult& part : parts) json["parts"].push_back(part.directory);
  json["run"] = result.run;
  return json;
}

}  // namespace graphpae::run
