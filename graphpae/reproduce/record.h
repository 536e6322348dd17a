// Record: what one finished job of an experiment measured, a line of results.jsonl.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "graphpae/reproduce/experiment.h"

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

// What a job measured. It is read from what child processes print.
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

// What a job computes, whatever experiment it is for.
struct JobIdentity {
  std::string verb;        // "probe", "supervised", "transfer", "pretrain", "tune"
  std::string data;        // name of the data set
  std::string data_hash;   // of its content; "" if it is not known
  std::string from;        // of transfer: the pre-training it starts from, "KEY:EPOCHS"
  SettingList settings;    // all of them, resolved
  int64_t epochs() const;  // as settings say
  int64_t seed() const;
};

// Names the run directory and the lock of a job.
std::string job_key(const JobIdentity& identity);

// The warm-up of a run that is cut to fewer epochs: the same part of it.
int64_t shared_warmup(int64_t warmup, int64_t epochs, int64_t fewer);

struct Record : JobResult {
  JobIdentity identity;
  std::string key, experiment, variant;  // those it was run for
  int64_t threads = 0;
  std::string commit, version, machine, date;
};

// Whether a record answers what a job asks. A setting the record does not know had its default; hashes of data are
// compared if both are known.
bool answers(const Record& record, const JobIdentity& job);
// Likewise, whatever the seed and the number of epochs, with the warm-up that belongs to it.
bool answers_but_for_seed_and_epochs(const Record& record, const JobIdentity& job);

std::string to_json_line(const Record& record);  // with its \n
// Nothing if the line is not a whole record, for instance the torn end of a file.
std::optional<Record> record_from_json_line(const std::string& line);

// A log is a file of records that only grows. Several processes may append to it. The line is on the disk when the call
// returns. A torn line before it stays alone. Throws a data error.
void append_to_log(const std::string& path, const Record& record);
std::vector<Record> read_log(const std::string& path);  // none if there is no file

}  // namespace graphpae
