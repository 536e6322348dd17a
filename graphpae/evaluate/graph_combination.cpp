#include "graphpae/evaluate/graph_combination.h"

#include <optional>
#include <vector>

#include "graphpae/core/error.h"
#include "graphpae/evaluate/statistics.h"

namespace graphpae {
namespace {

constexpr int64_t kMostJoined = 20;

std::optional<double> score_of(GraphMetric metric, std::span<const double> predictions, const GraphTargets& targets,
                               int64_t task, std::span<const int32_t> ids) {
  std::vector<double> labels;
  for (const int32_t id : ids) labels.push_back(targets.at(id, task));
  return metric == GraphMetric::rocauc ? roc_auc(predictions, labels) : rmse(predictions, labels);
}

// What the predictions of a member are divided by.
double unit_of(const TaskScore& task, GraphMetric metric) {
  if (metric == GraphMetric::rmse) return 1;
  std::vector<double> all = task.test_predictions;
  all.insert(all.end(), task.val_predictions.begin(), task.val_predictions.end());
  const double deviation = statistics(all).deviation;
  return deviation > 0 ? deviation : 1;
}

void add_divided(std::vector<double>& sum, const std::vector<double>& values, double unit) {
  sum.resize(values.size(), 0);
  for (size_t i = 0; i < values.size(); ++i) sum[i] += values[i] / unit;
}

std::vector<double> divided(std::vector<double> values, double by) {
  for (double& value : values) value /= by;
  return values;
}

TaskScore combine_task(std::span<const GraphScores* const> members, const GraphTargets& targets, const Split& split,
                       GraphMetric metric, int64_t t) {
  std::vector<const TaskScore*> tasks;
  std::vector<double> units;
  for (const GraphScores* member : members) {
    tasks.push_back(&member->tasks[t]);
    units.push_back(unit_of(*tasks.back(), metric));
  }
  std::vector<double> val, test;
  double added = 0, best = 0;
  for (int64_t round = 0; round < kMostJoined; ++round) {
    int64_t chosen = -1;
    for (size_t m = 0; m < tasks.size(); ++m) {
      std::vector<double> trial = val;
      add_divided(trial, tasks[m]->val_predictions, units[m]);
      const auto score = score_of(metric, divided(trial, added + 1), targets, t, split.val);
      if (!score) continue;
      const double gain = metric == GraphMetric::rmse ? -*score : *score;
      if ((added > 0 || chosen >= 0) && gain <= best) continue;
      best = gain;
      chosen = static_cast<int64_t>(m);
    }
    if (chosen < 0) break;
    add_divided(val, tasks[chosen]->val_predictions, units[chosen]);
    add_divided(test, tasks[chosen]->test_predictions, units[chosen]);
    ++added;
  }
  if (added == 0) {  // nothing to choose by
    for (size_t m = 0; m < tasks.size(); ++m) {
      add_divided(val, tasks[m]->val_predictions, units[m]);
      add_divided(test, tasks[m]->test_predictions, units[m]);
      ++added;
    }
  }
  TaskScore result;
  result.test_predictions = divided(std::move(test), added);
  result.val_predictions = divided(std::move(val), added);
  result.test = score_of(metric, result.test_predictions, targets, t, split.test);
  result.val = score_of(metric, result.val_predictions, targets, t, split.val);
  return result;
}

}  // namespace

GraphScores combine_graphs(std::span<const GraphScores* const> members, const GraphTargets& targets, const Split& split,
                           GraphMetric metric) {
  if (members.empty()) throw data_error("there are no blocks to combine");
  GraphScores result;
  result.tasks.resize(static_cast<size_t>(targets.tasks()));
  std::vector<double> test, val;
  for (int64_t t = 0; t < targets.tasks(); ++t) {
    if (!members.front()->tasks[t].test) continue;  // left out
    result.tasks[t] = combine_task(members, targets, split, metric, t);
    if (result.tasks[t].test) test.push_back(*result.tasks[t].test);
    if (result.tasks[t].val) val.push_back(*result.tasks[t].val);
  }
  result.test = statistics(test).mean;
  if (!val.empty()) result.val = statistics(val).mean;
  return result;
}

}  // namespace graphpae
