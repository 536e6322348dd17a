// LearningTask: what is to be read off rows, as numbers a ridge can learn: classes, or properties of graphs.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "graphpae/core/metrics.h"

namespace graphpae {

enum class TaskMetric { accuracy, roc_auc, rmse };
const char* name_of(TaskMetric metric);  // "accuracy", "roc_auc", "rmse"

struct LearningTask {
  TaskMetric metric = TaskMetric::accuracy;
  bool classes = false;         // outputs are classes that exclude each other
  int64_t outputs = 0;          // T
  std::vector<double> targets;  // [N,T]: 1 for the class of a row and 0 for others, or values; NaN: missing
  std::vector<int32_t> labels;  // [N] of classes, or empty

  int64_t rows() const { return static_cast<int64_t>(targets.size()) / outputs; }
  bool has(int64_t row, int64_t output) const;  // a target is there
  bool is_known(int64_t row) const;             // any is

  // The larger the better: accuracy, ROC-AUC (mean over outputs that have both classes) or minus RMSE (mean over
  // outputs) of predictions [ids,T]. Nothing if there is nothing to score.
  std::optional<double> score(std::span<const int32_t> ids, std::span<const float> predictions) const;
  // The same for people: RMSE is positive.
  double shown(double score) const { return metric == TaskMetric::rmse ? -score : score; }
  // What a score over so many rows may be off by chance, one standard error.
  double standard_error(double score, int64_t rows) const;
};

// labels [N] in 0 .. classes-1, below 0: unlabelled. Throws a usage error if ROC-AUC is asked for of other than two
// classes.
LearningTask class_task(std::span<const int32_t> labels, int64_t classes, TaskMetric metric);
// The metric is that of graph_metric().
LearningTask property_task(const GraphTargets& targets);

}  // namespace graphpae
