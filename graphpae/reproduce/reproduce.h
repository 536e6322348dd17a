// Tables and figures of the paper, run again.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graphpae/core/stopwatch.h"
#include "graphpae/reproduce/job_runner.h"
#include "graphpae/reproduce/summary.h"

namespace graphpae {

struct PlannedJob {
  std::string label, key;
  int64_t epochs = 0;
  bool done = false;
  double seconds = 0;  // that it would take; 0 if it is done
};

struct CampaignPlan {
  std::string experiment;
  std::vector<PlannedJob> jobs;
  std::vector<std::pair<std::string, std::string>> missing;  // rows and variants that cannot be run, and why
  std::vector<std::string> notes;

  int64_t open() const;    // jobs that are not done,
  double seconds() const;  // and what they take
};

struct SpectrumOfRow {
  std::string row;
  std::string directory;  // with spectrum.html, .csv and .json; "" if there is none
  std::string text;       // what the verb printed, or why there is nothing
};

// An experiment on this machine: what is here, what is done, what is left.
class Campaign {
 public:
  // Looks for the data. Refers to `work` and `runner`.
  Campaign(Experiment experiment, const WorkDirectory& work, JobRunner& runner);

  // Seeds and epochs such that the jobs fit into the budget, of which `seconds` are left.
  void plan(double seconds);

  CampaignPlan list();

  // Runs all jobs that are not done, together with other processes. Calls `after` when one has finished.
  void work(const std::function<void()>& after);

  // Of an experiment that is a spectrum: `graphpae spectrum` for every row that has none of these data and settings.
  std::vector<SpectrumOfRow> spectra();

  Summary summary() const;

  size_t failures() const { return failed_; }
  ErrorKind failure_kind() const { return failure_kind_; }  // of the last one

 private:
  // A table of what is done shows every variant that has results, also those that are not run by default.
  bool all_variants() const { return options_.table_only && options_.variants.empty(); }
  FoundData look_for(const std::vector<std::string>& names) const;
  bool can_run(size_t row, size_t variant) const {
    return data_[row].state.empty() && pretrain_data_[variant].state.empty();
  }
  void run_spectrum(size_t row, const std::string& directory);
  void note_failures(Summary& summary) const;
  Job job_of(size_t row, size_t variant, int64_t seed) const;
  Job job_among(const std::vector<Record>& records, size_t row, size_t variant, int64_t seed) const;
  std::vector<Job> all_jobs() const;
  std::string label(const Job& job) const;
  JobCost guess(std::map<size_t, JobCost>& made, size_t number, const Training& job, bool trial);
  JobCost cost(const std::vector<Record>& records, const Job& job);
  JobCost cost_before(const Job& job);  // of its pre-training, if that is still to be done
  double seconds_of(const std::vector<Record>& records, const Job& job);
  std::vector<CellCost> cell_costs(const std::vector<Job>& first);
  void mark_cells(const std::set<std::string>& left_out);  // before the plan changes job_options_
  void run_job(const Job& job, const std::string& title);
  void fail(const std::string& key, const JobFailure& failure);

  Experiment experiment_;
  const WorkDirectory& work_;
  const ReproduceOptions& options_;
  const JobWatch& watch_;
  JobRunner& runner_;
  JobOptions job_options_;
  using Cell = std::pair<size_t, size_t>;        // row and variant
  double deadline_ = 0;                          // seconds on clock_; 0 for none
  std::set<Cell> whole_;                         // have a run with all epochs, which a plan with fewer leaves as it is
  std::set<Cell> left_out_;                      // of the plan: nothing of them fits
  std::vector<FoundData> data_, pretrain_data_;  // of rows, of variants
  std::vector<std::string> notes_;
  std::map<std::string, std::string> failures_;  // why jobs were not done, by key
  size_t failed_ = 0;
  ErrorKind failure_kind_ = ErrorKind::internal;
  std::map<size_t, JobCost> guesses_, guesses_before_;  // by row, by variant
  Stopwatch clock_;                                     // since plan() was called
};

struct ReproduceResult {
  std::vector<Summary> summaries;      // one per table
  std::vector<SpectrumOfRow> spectra;  // of experiments that are spectra
  size_t failed = 0;                   // jobs
  ErrorKind failure_kind = {};         // of the first experiment that had one
};

// Runs the jobs of options.name that are not done, together with other processes that do the same. results.jsonl grows
// with every job; results.md, results.csv and report.html in options.output are written after each. Throws an
// interrupted error if it is to stop; the same call goes on from there.
ReproduceResult reproduce(const ReproduceOptions& options, const JobWatch& watch);

// The jobs of a dry run, one plan per table.
std::vector<CampaignPlan> plan_reproduction(const ReproduceOptions& options, const JobWatch& watch);

// All spectra, one below the other.
std::string spectra_text(const std::vector<SpectrumOfRow>& spectra);

}  // namespace graphpae
