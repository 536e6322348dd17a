// Record: what one finished job of an experiment measured, a line of results.jsonl.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graphpae/reproduce/experiment.h"
#include "graphpae/reproduce/job_result.h"

namespace graphpae {

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

// A file of records that only grows. Several processes may append to it.
class ResultLog {
 public:
  explicit ResultLog(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  // The line is on the disk when the call returns. A torn line before it stays alone. Throws a data error.
  void append(const Record& record);
  std::vector<Record> read() const;  // none if there is no file

 private:
  std::string path_;
};

}  // namespace graphpae
