// How long jobs take, and how many seeds and epochs fit into a given time.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graphpae/reproduce/record.h"

namespace graphpae {

struct JobCost {
  double per_epoch = 0;  // seconds
  double fixed = 0;      // loading, positions, evaluation
  double of(int64_t epochs) const { return fixed + per_epoch * static_cast<double>(epochs); }
};

// From what finished before on this machine: records of the same cell, else of the same data. Nothing if there are
// none.
std::optional<JobCost> recorded_cost(const std::vector<Record>& records, const JobIdentity& job,
                                     const std::string& machine);

// All jobs of one data set and variant.
struct CellCost {
  JobCost cost;
  int64_t epochs = 0;      // of the recipe
  int64_t done_seeds = 0;  // with all epochs
  JobCost before = {};     // what is done once, before the first seed: the pre-training of transfer
  int64_t before_epochs = 0;
};

struct BudgetPlan {
  int64_t seeds = 1;
  double share = 1;            // of the epochs
  double seconds = 0;          // that the jobs of this plan still take
  std::vector<bool> left_out;  // [cells] not even one epoch of them fits
};

// As many seeds of all cells as fit with all their epochs, up to `wanted`; else one seed and a share of the epochs, of
// cells that have no seed yet. Of those that do not fit with one epoch each the dearest are left out.
BudgetPlan plan_budget(const std::vector<CellCost>& cells, int64_t wanted, double seconds);

// "90", "90s", "30m", "2h", "1h30m", "1d" as seconds. Throws a usage error.
double parse_duration(const std::string& text);
// "45 s", "12 min", "3.4 h".
std::string duration_text(double seconds);

}  // namespace graphpae
