// Campaign: an experiment on this machine: what is here, what is done, what is left.
#pragma once

#include <chrono>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "graphpae/cli/reproduce.h"
#include "graphpae/reproduce/summary.h"

namespace graphpae::cli {

struct SpectrumOfRow {
  std::string row;
  std::string directory;  // with spectrum.html, .csv and .json; "" if there is none
  std::string text;       // what the verb printed, or why there is nothing
};

class Campaign {
 public:
  // Looks for the data. Refers to its arguments.
  Campaign(Experiment experiment, const ReproduceFlags& flags, const Workshop& workshop, JobRunner& runner,
           const GracefulStop& stop);

  const Experiment& experiment() const { return experiment_; }

  // Seeds and epochs such that the jobs fit into --budget, of which `seconds` are left. The plan of an interrupted call
  // is kept, or its jobs would be others each time.
  void plan(double seconds);

  // {"experiment", "jobs": [{"job", "key", "epochs", "done", "seconds"}], "open", "seconds_left", "missing", "notes"}.
  Json list();

  // Runs all jobs that are not done, together with other processes. Calls `after` when one has finished.
  void work(const std::function<void()>& after);

  // Of an experiment that is a spectrum: `graphpae spectrum` for every row that has none of these data and settings.
  std::vector<SpectrumOfRow> spectra();

  Summary summary() const;

  size_t failures() const { return failed_; }
  int failure_code() const { return failure_code_; }  // of the last one; 0 if none failed

 private:
  // A table of what is done shows every variant that has results, also those that are not run by default.
  bool all_variants() const { return flags_.table_only && flags_.variants.empty(); }
  void find_data();
  void run_spectrum(size_t row, const std::string& directory);
  FoundData look_for(const std::vector<std::string>& names, std::string& state) const;
  bool can_run(size_t row, size_t variant) const { return states_[row].empty() && variant_states_[variant].empty(); }
  void note_failures(Summary& summary) const;
  Job job_of(size_t row, size_t variant, int64_t seed) const;
  Job job_among(const std::vector<Record>& records, size_t row, size_t variant, int64_t seed) const;
  std::vector<Job> all_jobs() const;
  std::vector<Job> first_jobs() const;  // those of seed 0
  std::vector<Record> records() const { return all_records(workshop_, flags_); }
  std::string label(const Job& job) const;
  JobCost cost(const std::vector<Record>& records, const Job& job);
  JobCost cost_before(const Job& job);  // of its pre-training, if that is still to be done
  double seconds_of(const std::vector<Record>& records, const Job& job);
  std::vector<CellCost> cell_costs(const std::vector<Job>& first);
  void mark_cells(const std::set<std::string>& left_out);  // before the plan changes options_
  double seconds_used() const;                             // since plan() was called
  void run_job(const Job& job, const std::string& title);
  void fail(const std::string& key, const std::string& what, int code);

  Experiment experiment_;
  const ReproduceFlags& flags_;
  const Workshop& workshop_;
  JobRunner& runner_;
  const GracefulStop& stop_;
  JobOptions options_;
  using Cell = std::pair<size_t, size_t>;        // row and variant
  double deadline_ = 0;                          // seconds from start_; 0 for none
  std::set<Cell> whole_;                         // have a run with all epochs, which a plan with fewer leaves as it is
  std::set<Cell> left_out_;                      // of the plan: nothing of them fits
  std::vector<FoundData> data_, pretrain_data_;  // of rows, of variants
  std::vector<std::string> states_, variant_states_;  // why rows and variants cannot be run
  std::vector<std::string> notes_;
  std::map<std::string, std::string> failures_;  // why jobs were not done, by key
  size_t failed_ = 0;
  int failure_code_ = 0;
  std::map<size_t, JobCost> guesses_;         // by row
  std::map<size_t, JobCost> guesses_before_;  // by variant
  std::chrono::steady_clock::time_point start_;
};

}  // namespace graphpae::cli
