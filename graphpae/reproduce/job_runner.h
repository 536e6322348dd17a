// Runs jobs of experiments as child processes of this program: pretrain and evaluate, or finetune.
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "graphpae/core/error.h"
#include "graphpae/reproduce/budget.h"
#include "graphpae/reproduce/work_directory.h"

namespace graphpae {

// A job that did not work out; what() is its error. Others can go on.
struct JobFailure : Error {
  using Error::Error;
};

class JobRunner {
 public:
  // Refers to `work`.
  explicit JobRunner(const WorkDirectory& work) : work_(work) {}

  // The first of `names` that is in options.data, or in the usual places if that is "", with the hash of its content.
  FoundData find(const std::vector<std::string>& names);

  // A guess from the estimate of `pretrain --dry-run`, or, with `trial`, from a few epochs if those are short.
  JobCost guess(const Training& job, bool trial);

  // Runs a job, or goes on with one that was interrupted; `label` stands beside the bar. Throws JobFailure, and an
  // interrupted error if it is to stop.
  Record run(const Job& job, const std::string& label);

  // What `graphpae WORDS...` prints, run in the directory for data in `place`. Throws as run() does.
  std::string child(std::vector<std::string> words, const std::string& place, std::function<void()> tick = {});

 private:
  JobResult result_of(std::vector<std::string> words, const std::string& place, const std::string& metric = "",
                      std::function<void()> tick = {});
  // `seconds` are of this process and of what an earlier one had done of the run.
  JobResult train(std::vector<std::string> words, const Training& job, const std::string& label,
                  const std::string& metric = "");
  JobResult probe(const Job& job, const std::string& label);
  JobResult finetune(const Job& job, const std::string& label);

  const WorkDirectory& work_;
  std::map<std::string, std::string> hashes_;  // by path
};

}  // namespace graphpae
