#include "graphpae/evaluate/learning_task.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "graphpae/core/error.h"

namespace graphpae {

const char* name_of(TaskMetric metric) {
  return metric == TaskMetric::accuracy ? "accuracy" : metric == TaskMetric::roc_auc ? "roc_auc" : "rmse";
}

bool LearningTask::has(int64_t row, int64_t output) const { return !std::isnan(targets[row * outputs + output]); }

bool LearningTask::is_known(int64_t row) const {
  for (int64_t t = 0; t < outputs; ++t) {
    if (has(row, t)) return true;
  }
  return false;
}

std::optional<double> LearningTask::score(std::span<const int32_t> ids, std::span<const float> predictions) const {
  if (ids.empty()) return std::nullopt;
  if (metric == TaskMetric::accuracy) {
    int64_t right = 0;
    for (size_t i = 0; i < ids.size(); ++i) {
      const auto row = predictions.subspan(i * outputs, outputs);
      right += std::max_element(row.begin(), row.end()) - row.begin() == labels[ids[i]];
    }
    return static_cast<double>(right) / static_cast<double>(ids.size());
  }
  double sum = 0;
  int64_t scored = 0;
  for (int64_t t = classes ? 1 : 0; t < outputs; ++t) {  // of two classes: the second against the first
    std::vector<double> scores(ids.size()), truth(ids.size());
    for (size_t i = 0; i < ids.size(); ++i) {
      const float* row = predictions.data() + i * outputs;
      scores[i] = classes ? static_cast<double>(row[1]) - row[0] : row[t];
      truth[i] = targets[ids[i] * outputs + t];
    }
    const std::optional<double> one = metric == TaskMetric::rmse ? rmse(scores, truth) : roc_auc(scores, truth);
    if (!one) continue;
    sum += metric == TaskMetric::rmse ? -*one : *one;
    ++scored;
  }
  if (scored == 0) return std::nullopt;
  return sum / static_cast<double>(scored);
}

double LearningTask::standard_error(double score, int64_t rows) const {
  const double n = static_cast<double>(std::max<int64_t>(rows, 1));
  if (metric == TaskMetric::rmse) return std::abs(score) / std::sqrt(2 * n);
  const double p = std::clamp(score, 0.02, 0.98);
  return std::sqrt(p * (1 - p) / n);
}

LearningTask class_task(std::span<const int32_t> labels, int64_t classes, TaskMetric metric) {
  if (metric == TaskMetric::roc_auc && classes != 2)
    throw usage_error(fmt::format("ROC-AUC is of two classes, the labels have {}", classes));
  LearningTask task;
  task.metric = metric;
  task.classes = true;
  task.outputs = classes;
  task.labels.assign(labels.begin(), labels.end());
  task.targets.assign(labels.size() * static_cast<size_t>(classes), std::numeric_limits<double>::quiet_NaN());
  for (size_t i = 0; i < labels.size(); ++i) {
    if (labels[i] < 0) continue;
    for (int64_t c = 0; c < classes; ++c) task.targets[i * classes + c] = labels[i] == c ? 1 : 0;
  }
  return task;
}

LearningTask property_task(const GraphTargets& targets) {
  LearningTask task;
  task.metric = graph_metric(targets) == GraphMetric::rmse ? TaskMetric::rmse : TaskMetric::roc_auc;
  task.outputs = targets.tasks();
  task.targets.assign(targets.values.begin(), targets.values.end());
  return task;
}

}  // namespace graphpae
