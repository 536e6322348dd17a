// WorkDirectory: where the work on experiments is kept, shared by all processes that do it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "graphpae/core/error.h"
#include "graphpae/reproduce/job.h"
#include "graphpae/run/context.h"

namespace graphpae {

// What `reproduce` and `reproduce tune` are asked for.
struct ReproduceOptions {
  std::string name;                           // an experiment, "all", or a YAML file
  std::string tune_data, recipe;              // of tune: the data set, and where the search starts
  std::string data;                           // directory of data sets; "" for the usual places
  std::string output = "graphpae-reproduce";  // directory of results and unfinished runs
  std::string budget;                         // time to spend; "" for no limit
  std::string fill;                           // a Markdown file whose marks are filled; "" for none
  std::vector<std::string> datasets, variants, results;
  int64_t seeds = 0, epochs = 0;  // 0: as experiments and recipes say
  int threads = 0;                // of child processes; 0: all processors
  bool keep_runs = false, table_only = false, dry_run = false;
};

// The error of a call that was stopped.
inline constexpr const char* kKeptWhenInterrupted =
    "interrupted; what is done is kept, and the same command goes on from there";

struct JobWatch : run::Watch {
  std::function<void(const std::string& line)> failure;  // a job has failed; the others go on
  std::function<void(const std::string& line)> command;  // that is run as a child process

  // Throws an interrupted error if it is to stop.
  void check() const {
    if (stopping()) throw Error(ErrorKind::interrupted, "interrupted");
  }
};

// Held by one process of a machine at a time. The system gives the lock back when the process and all its children that
// inherited it have ended, however they ended.
using JobLock = std::shared_ptr<const int>;
// Null if another process has the lock. Throws a data error if the file cannot be made.
JobLock try_lock(const std::string& path);

// It holds results.jsonl, runs/, locks/, plans/ and cache/.
class WorkDirectory {
 public:
  // options.output, made if need be. A dry run leaves it as it is: its children work in a directory that is removed in
  // the end. Refers to its arguments. Throws a data error.
  WorkDirectory(const ReproduceOptions& options, const JobWatch& watch);
  ~WorkDirectory();
  WorkDirectory(const WorkDirectory&) = delete;
  WorkDirectory& operator=(const WorkDirectory&) = delete;

  const ReproduceOptions& options() const { return options_; }
  const JobWatch& watch() const { return watch_; }
  const std::string& path() const { return path_; }                // absolute
  const std::string& of_children() const { return of_children_; }  // where they work; the same but for a dry run
  std::string run(const std::string& key) const { return path_ + "/runs/" + key; }

  // Those of the directory and of options.results.
  std::vector<Record> records() const;
  // Keeps the record of a finished job and, unless runs are kept, removes its files.
  void finish(const Record& record) const;

  // Waits until the lock of that name is free. Throws an interrupted error if it is to stop.
  JobLock lock(const std::string& name) const;

  // The plan of that name if it was made for the same question; else `make` adds to a new one and says whether it is to
  // be kept for the next call, or its jobs would be others each time.
  nlohmann::ordered_json plan(const std::string& name, const nlohmann::ordered_json& question,
                              const std::function<bool(nlohmann::ordered_json& plan)>& make) const;

  // Calls `run` for every job that the records do not answer, under the lock of the job, and waits for those that other
  // processes are doing. `number` counts from 1 the jobs that are done or under way, of `total`. Throws an interrupted
  // error if it is to stop.
  void share(const std::vector<Job>& jobs,
             const std::function<void(const Job& job, size_t number, size_t total)>& run) const;

 private:
  const ReproduceOptions& options_;
  const JobWatch& watch_;
  std::string path_, of_children_;
};

// Whether one of the records answers the job.
bool is_done(const std::vector<Record>& records, const Job& job);

}  // namespace graphpae
