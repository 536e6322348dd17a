// Scores under one protocol over splits and runs, whatever was evaluated, and their comparison. A run is a seed of the
// probe or one of several models that differ in their seeds.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graphpae/core/metrics.h"
#include "graphpae/evaluate/statistics.h"

namespace graphpae {

// One of many properties, [splits, seeds] each; nothing where it could not be evaluated.
struct TaskScores {
  std::vector<std::optional<double>> test, validation, penalties;
};

struct ProtocolScores {
  int64_t splits = 0, seeds = 0;
  std::vector<double> test;                       // [splits, seeds]
  std::vector<int64_t> chosen;                    // [splits, seeds] candidates of the probe; empty without a choice
  std::vector<std::optional<double>> validation;  // [splits, seeds] scores on the validation part; empty if it has none
  std::optional<Confusion> confusion;             // of classes: all tested rows, added up over splits and seeds
  std::vector<TaskScores> tasks;                  // [T] of graphs
  std::vector<std::vector<std::string>> notes;    // [splits] what was left out, or none at all
  int64_t unconverged = 0;                        // fits that did not reach their optimum
  double overlap = 0;                             // test rows per training row, if several splits share their rows
  // Of one split and one seed: a 95% interval from resampled test rows, if one was made.
  std::optional<std::pair<double, double>> resampled;

  // Mean and deviation of all scores. The interval is hierarchical: splits are the sample, the seeds of a split first
  // become their mean, and overlapping training sets widen it; with one split it is of the seeds, and with one score
  // that of resampled test rows.
  Statistics summary() const;
  std::vector<double> per_split() const;  // [splits] means over seeds
  // Joins the scores of another run on the same splits.
  void append(const ProtocolScores& other);
};

// The mean of those that are there, if any.
std::optional<double> mean_of(const std::vector<std::optional<double>>& values);

// One minus another, pair by pair: means of splits, or single scores if there is one split.
struct PairedDifference {
  Statistics difference;
  int64_t pairs = 0;
  int64_t better = 0;  // pairs where the first is larger, or smaller if the scores are errors
};
// Throws a data error if the two are not over the same splits, or over one split with unequal numbers of seeds.
// The interval allows for overlapping training sets, as summary() does.
PairedDifference compare(const ProtocolScores& first, const ProtocolScores& second, bool errors = false);

}  // namespace graphpae
