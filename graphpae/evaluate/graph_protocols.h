// How good are frozen rows for properties of graphs? Receives rows, targets and a split, and nothing else.
//
// A probe per task. Classes 0 and 1: logistic_probe.h, scored by ROC-AUC. Numbers: ridge_probe.h, scored by RMSE. The
// penalty is chosen by cross validation within the training rows: the validation part chooses nothing, and test labels
// are looked at once. The result is the mean over tasks.
//
//   strict   A row without a label of a task is not used for that task.
//   paper    As released: a missing label of a training row counts as 0, in fitting and in cross validation; missing
//            labels of other rows are ignored all the same.
//
// Without missing training labels the two are the same, and computed once.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "graphpae/core/features.h"
#include "graphpae/core/metrics.h"
#include "graphpae/core/split.h"
#include "graphpae/core/threads.h"
#include "graphpae/evaluate/ridge_probe.h"

namespace graphpae {

struct TaskScore {
  std::optional<double> test;  // nothing: the task is left out of the mean, a note says why
  std::optional<double> val;   // nothing: as above, or the validation part has no labels or one class only
  std::optional<double> penalty;
  std::vector<double> test_predictions, val_predictions;  // [test], [val] of the split; empty: left out
};

// Of one protocol on one split.
struct GraphScores {
  double test = 0;               // mean of the tasks that have one
  std::optional<double> val;     // likewise
  std::vector<TaskScore> tasks;  // [T]
  std::vector<std::string> notes;
  int64_t unconverged = 0;  // fits that did not reach their optimum
};

struct GraphEvaluation {
  GraphMetric metric = GraphMetric::rmse;
  std::optional<GraphScores> strict, paper;  // as asked for
};

struct GraphEvaluateOptions {
  bool strict = true, paper = false;
  RowScaling scaling = RowScaling::length;  // of ridge regression
  Threads threads;
  std::function<void(int64_t done, int64_t total)> progress;  // fits, of all; called by one thread at a time
};

// Whether a label of a training row is missing, so that the protocols differ.
bool misses_training_labels(const GraphTargets& targets, const Split& split);

// Throws a data error if ids are wrong, if a part overlaps another, or if no task can be evaluated: with two classes, a
// task needs both in the test part and at least two training labels of each; with numbers, a test label and as many
// training labels as there are folds. evaluate_graphs() checks it; a caller with much to do before may ask first.
void check_evaluable(const GraphTargets& targets, const Split& split, const GraphEvaluateOptions& options);

// rows X [G,D]. Throws what check_evaluable does. Same bits for any number of threads.
GraphEvaluation evaluate_graphs(const Features& rows, const GraphTargets& targets, const Split& split,
                                const GraphEvaluateOptions& options);

// What knows nothing about the graphs: the mean of the training labels, or for classes the same score for all, whose
// ROC-AUC is 0.5.
GraphEvaluation evaluate_constant(const GraphTargets& targets, const Split& split, const GraphEvaluateOptions& options);

}  // namespace graphpae
