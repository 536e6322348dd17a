// WorkDirectory: where the work on experiments is kept, shared by all processes that do it.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graphpae/reproduce/job.h"
#include "graphpae/reproduce/job_lock.h"
#include "graphpae/reproduce/options.h"

namespace graphpae {

// It holds results.jsonl, runs/, locks/, plans/ and cache/.
struct WorkDirectory {
  std::string path;  // absolute
  bool keep_runs = false;

  std::string run(const std::string& key) const { return path + "/runs/" + key; }
  std::string lock(const std::string& key) const { return path + "/locks/" + key; }
  std::string plan(const std::string& name) const { return path + "/plans/" + name + ".json"; }
  std::string results() const { return path + "/results.jsonl"; }
  void create() const;  // throws a data error
};

// options.output.
WorkDirectory work_directory_of(const ReproduceOptions& options);
// A place for children to work in when nothing is to be written to options.output; removed in the end.
std::shared_ptr<const WorkDirectory> temporary_work_directory();

// Records of the directory and of options.results.
std::vector<Record> all_records(const WorkDirectory& work, const ReproduceOptions& options);

// Whether one of the records answers the job.
bool is_done(const std::vector<Record>& records, const Job& job);

// Calls `run` for every job that `records` do not answer, under the lock of the job, and waits for those that other
// processes are doing. `number` counts from 1 the jobs that are done or under way, of `total`. Throws an interrupted
// error if it is to stop.
void share_jobs(const WorkDirectory& work, const std::vector<Job>& jobs, const JobWatch& watch,
                const std::function<std::vector<Record>()>& records,
                const std::function<void(const Job& job, size_t number, size_t total)>& run);

// Waits until the lock is free. Throws an interrupted error if it is to stop.
JobLock wait_for_lock(const std::string& path, const JobWatch& watch);

}  // namespace graphpae
