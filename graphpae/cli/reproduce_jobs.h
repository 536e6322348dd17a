// Runs jobs of experiments as child processes of this program: pretrain and evaluate, or finetune.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graphpae/cli/child.h"
#include "graphpae/cli/command.h"
#include "graphpae/core/error.h"
#include "graphpae/reproduce/budget.h"
#include "graphpae/reproduce/job.h"
#include "graphpae/reproduce/job_lock.h"

namespace graphpae::cli {

// Where the work is kept: results.jsonl, runs/, locks/, cache/.
struct Workshop {
  std::string directory;  // absolute
  bool keep_runs = false;

  std::string run(const std::string& key) const { return directory + "/runs/" + key; }
  std::string lock(const std::string& key) const { return directory + "/locks/" + key; }
  std::string results() const { return directory + "/results.jsonl"; }
  void create() const;  // throws a data error
};

// A job that did not work out; what() is its error. Others can go on.
class JobFailure : public std::runtime_error {
 public:
  JobFailure(int code, const std::string& message) : std::runtime_error(message), code_(code) {}
  int code() const { return code_; }

 private:
  int code_;
};

// Whether one of the records answers the job.
bool is_done(const std::vector<Record>& records, const Job& job);

// Calls `run` for every job that `records` do not answer, under the lock of the job, and waits for those that other
// processes are doing. `number` counts from 1 the jobs that are done or under way, of `total`. Throws an interrupted
// error if the user stops it.
void share_jobs(const Workshop& workshop, const std::vector<Job>& jobs, const GracefulStop& stop,
                const std::function<std::vector<Record>()>& records,
                const std::function<void(const Job& job, size_t number, size_t total)>& run);

// Waits until the lock is free. Throws an interrupted error if the user stops it.
JobLock wait_for_lock(const std::string& path, const GracefulStop& stop);

// The kind of error a child's exit code says; internal for a signal.
ErrorKind kind_of(int exit_code);

class JobRunner {
 public:
  JobRunner(const Workshop& workshop, const Common& common, const GracefulStop& stop)
      : workshop_(workshop), common_(common), stop_(stop) {}

  // The first of `names` that is in one of the places, with the hash of its content if `read`.
  FoundData find(const std::vector<std::string>& names, const std::vector<std::string>& places, bool read);

  // A guess from the estimate of `pretrain --dry-run`, or, with `trial`, from a few epochs if those are short.
  JobCost guess(const Job& job, const FoundData& data, bool trial);

  // Runs a job, or goes on with one that was interrupted. `baselines`: probe also what the embeddings must beat.
  // `protocol` of evaluate. Throws JobFailure, and an interrupted error if the user stops it.
  Record run(const Job& job, const FoundData& data, const FoundData& pretrain_data, bool baselines,
             const std::string& protocol, const std::string& label, const std::string& metric);

  // Removes the files of a finished job.
  void clean(const Job& job) const;

  // `graphpae WORDS...` in the workshop, for data in `place`. Throws as run() does.
  ChildOutcome child(std::vector<std::string> words, const std::string& place, std::function<void()> tick = {});

 private:
  Json json_of(std::vector<std::string> words, const std::string& place, std::function<void()> tick = {});
  // The results of training, with "wall_seconds": of this process and of what an earlier one had done of the run.
  Json train(const std::string& verb, std::vector<std::string> words, const std::string& key, const std::string& place,
             int64_t epochs, const std::string& label);
  Record probe(const Job& job, const std::string& key, const FoundData& data, bool baselines,
               const std::string& protocol, const std::string& label);
  Record finetune(const Job& job, const std::string& key, const FoundData& data, const FoundData& pretrain_data,
                  const std::string& label, const std::string& metric);

  Workshop workshop_;
  const Common& common_;
  const GracefulStop& stop_;
  std::map<std::string, std::string> hashes_;  // by path
};

}  // namespace graphpae::cli
