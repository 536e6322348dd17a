// JobResult: what a job measured. It is read from what child processes print, and kept in records.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace graphpae {

// What a map has at a key; null if it has nothing.
template <class Value>
const Value* value_at(const std::map<std::string, Value>& map, const std::string& key) {
  const auto place = map.find(key);
  return place == map.end() ? nullptr : &place->second;
}

struct Baseline {
  double mean = 0, deviation = 0;
};

// Scores under one protocol: shares of one for accuracy and ROC-AUC, errors in the units of the labels.
struct ProtocolRecord {
  std::vector<std::vector<double>> scores;    // [splits][probes of a split]
  std::map<std::string, double> targets;      // of fine-tuning, by target
  std::optional<double> validation;           // mean over splits
  std::map<std::string, Baseline> baselines;  // "untrained", "raw_features", ...
};

struct JobResult {
  std::string metric;                               // "accuracy", "rocauc", "rmse", "mae", "mae_paper"
  std::map<std::string, ProtocolRecord> protocols;  // "strict", "paper"
  double seconds = 0;                               // all of the job
  double training_seconds = 0, seconds_per_epoch = 0;
  int64_t peak_rss_bytes = 0;  // of training
};

// What `pretrain`, `evaluate` or `finetune` printed with --json, also of a dry run: of a job, the part that the verb
// did. A metric of fine-tuning, if given, is looked up in every task, and the mean taken. Nothing if it is no result.
std::optional<JobResult> job_result_of_verb(const std::string& printed, const std::string& metric = "");

// The hash of the content that `info --json` printed; "" if it is not there.
std::string printed_data_hash(const std::string& printed);

// For the JSON library, whose exceptions the second one throws.
void to_json(nlohmann::ordered_json& json, const ProtocolRecord& protocol);
void from_json(const nlohmann::ordered_json& json, ProtocolRecord& protocol);

}  // namespace graphpae
