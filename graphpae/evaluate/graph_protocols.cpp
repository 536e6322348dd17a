#include "graphpae/evaluate/graph_protocols.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "graphpae/core/error.h"
#include "graphpae/core/metrics.h"
#include "graphpae/evaluate/logistic_probe.h"
#include "graphpae/evaluate/ridge_probe.h"

namespace graphpae {
namespace {

enum class Missing { left_out, zero };

// What a task is fitted on.
struct TaskPlan {
  int64_t task = 0;
  std::vector<int32_t> rows;   // training rows in the order of the split
  std::vector<double> labels;  // [rows]
};

// The tasks that can be evaluated, and a note about every other one.
struct Plan {
  std::vector<TaskPlan> tasks;
  std::vector<std::string> notes;
};

std::vector<double> labels_of(const GraphTargets& targets, int64_t task, std::span<const int32_t> rows) {
  std::vector<double> labels;
  for (const int32_t id : rows) labels.push_back(targets.at(id, task));
  return labels;
}

int64_t count_present(const std::vector<double>& labels) {
  return std::count_if(labels.begin(), labels.end(), [](double label) { return !std::isnan(label); });
}

std::vector<uint8_t> classes_of(const std::vector<double>& labels) { return {labels.begin(), labels.end()}; }

// Why labels of two classes are not enough to be scored, or "".
std::string class_shortage(const std::vector<double>& labels, int64_t needed, const char* part) {
  const auto ones = std::count(labels.begin(), labels.end(), 1.0),
             zeros = std::count(labels.begin(), labels.end(), 0.0);
  if (std::min(ones, zeros) >= needed) return "";
  if (ones + zeros == 0) return fmt::format("no {} label", part);
  return fmt::format("{} {} labels of class 1 and {} of class 0", ones, part, zeros);
}

std::string shortage(const TaskPlan& task, const std::vector<double>& test, GraphMetric metric) {
  if (metric == GraphMetric::rocauc) {
    // A class of two is held out in two folds, each time with one member left to learn from.
    const std::string training = class_shortage(task.labels, 2, "training");
    return !training.empty() ? training : class_shortage(test, 1, "test");
  }
  if (static_cast<int64_t>(task.labels.size()) < kFolds)
    return fmt::format("{} training labels for {} folds", task.labels.size(), kFolds);
  return count_present(test) == 0 ? "no test label" : "";
}

Plan make_plan(const GraphTargets& targets, const Split& split, GraphMetric metric, Missing missing) {
  Plan plan;
  for (int64_t t = 0; t < targets.tasks(); ++t) {
    TaskPlan task{t, {}, {}};
    for (const int32_t id : split.train) {
      const double label = targets.at(id, t);
      if (std::isnan(label) && missing == Missing::left_out) continue;
      task.rows.push_back(id);
      task.labels.push_back(std::isnan(label) ? 0 : label);
    }
    const std::string reason = shortage(task, labels_of(targets, t, split.test), metric);
    if (reason.empty())
      plan.tasks.push_back(std::move(task));
    else
      plan.notes.push_back(fmt::format("task {} is left out: {}", targets.names[t], reason));
  }
  if (plan.tasks.empty()) {
    throw data_error(targets.tasks() == 1
                         ? plan.notes.front()
                         : fmt::format("none of {} tasks can be evaluated; {}", targets.tasks(), plan.notes.front()));
  }
  return plan;
}

std::optional<double> score(GraphMetric metric, std::span<const double> predictions,
                            const std::vector<double>& labels) {
  if (count_present(labels) == 0) return std::nullopt;
  return metric == GraphMetric::rocauc ? roc_auc(predictions, labels) : rmse(predictions, labels);
}

// Predictions of the test rows, then of the validation rows.
void add_task(GraphScores& scores, const GraphTargets& targets, const Split& split, GraphMetric metric, int64_t task,
              std::span<const double> predictions) {
  TaskScore& own = scores.tasks[task];
  own.test = score(metric, predictions.first(split.test.size()), labels_of(targets, task, split.test));
  own.val = score(metric, predictions.subspan(split.test.size()), labels_of(targets, task, split.val));
  own.test_predictions.assign(predictions.begin(), predictions.begin() + static_cast<int64_t>(split.test.size()));
  own.val_predictions.assign(predictions.begin() + static_cast<int64_t>(split.test.size()), predictions.end());
}

void take_means(GraphScores& scores) {
  const auto mean = [&](auto member) -> std::optional<double> {
    double sum = 0, count = 0;
    for (const TaskScore& task : scores.tasks) {
      if (!(task.*member)) continue;
      sum += *(task.*member);
      ++count;
    }
    return count > 0 ? std::optional(sum / count) : std::nullopt;
  };
  scores.test = *mean(&TaskScore::test);  // a plan has tasks that can be tested
  scores.val = mean(&TaskScore::val);
}

// A probe for each task of the plan, in its order.
std::vector<FittedProbe> fit_probes(const Features& rows, const Plan& plan, GraphMetric metric,
                                    std::span<const int32_t> asked, RowScaling scaling, Threads threads,
                                    const std::function<void()>& step) {
  if (metric == GraphMetric::rocauc) {
    std::vector<BinaryTask> tasks;
    for (const TaskPlan& task : plan.tasks) tasks.push_back({task.rows, classes_of(task.labels)});
    return logistic_probes(rows, tasks, asked, threads, step);
  }
  // Tasks with labels for the same rows share their factorisations.
  std::map<std::vector<int32_t>, std::vector<size_t>> groups;
  for (size_t k = 0; k < plan.tasks.size(); ++k) groups[plan.tasks[k].rows].push_back(k);
  std::vector<FittedProbe> probes(plan.tasks.size());
  for (const auto& [train, members] : groups) {
    std::vector<double> labels;
    for (size_t i = 0; i < train.size(); ++i) {
      for (const size_t k : members) labels.push_back(plan.tasks[k].labels[i]);
    }
    const auto count = static_cast<int64_t>(members.size());
    std::vector<FittedProbe> fitted = ridge_probe(rows, train, labels, count, asked, threads, scaling);
    for (size_t m = 0; m < members.size(); ++m) probes[members[m]] = std::move(fitted[m]);
    for (int64_t k = 0; step && k < count * (kFolds + 1); ++k) step();
  }
  return probes;
}

GraphScores evaluate_protocol(const Features& rows, const GraphTargets& targets, const Split& split, GraphMetric metric,
                              const Plan& plan, RowScaling scaling, Threads threads,
                              const std::function<void()>& step) {
  std::vector<int32_t> asked = split.test;
  asked.insert(asked.end(), split.val.begin(), split.val.end());
  const std::vector<FittedProbe> probes = fit_probes(rows, plan, metric, asked, scaling, threads, step);
  GraphScores scores;
  scores.tasks.resize(static_cast<size_t>(targets.tasks()));
  scores.notes = plan.notes;
  for (size_t k = 0; k < probes.size(); ++k) {
    const int64_t task = plan.tasks[k].task;
    add_task(scores, targets, split, metric, task, probes[k].predictions);
    scores.tasks[task].penalty = probes[k].penalty;
    scores.unconverged += probes[k].unconverged;
    if (probes[k].folds_used < kFolds) {
      scores.notes.push_back(
          fmt::format("task {}: {} of {} folds hold out one class only and have no say in the choice",
                      targets.names[task], kFolds - probes[k].folds_used, kFolds));
    }
  }
  take_means(scores);
  return scores;
}

GraphScores constant_scores(const GraphTargets& targets, const Split& split, GraphMetric metric, const Plan& plan) {
  GraphScores scores;
  scores.tasks.resize(static_cast<size_t>(targets.tasks()));
  for (const TaskPlan& task : plan.tasks) {
    const double mean =
        std::accumulate(task.labels.begin(), task.labels.end(), 0.0) / static_cast<double>(task.labels.size());
    const std::vector<double> predictions(split.test.size() + split.val.size(), mean);
    add_task(scores, targets, split, metric, task.task, predictions);
  }
  take_means(scores);
  return scores;
}

// Runs `evaluate` on the plan of each protocol that is asked for, once if they are the same.
template <class Evaluate>
GraphEvaluation for_protocols(const GraphTargets& targets, const Split& split, const GraphEvaluateOptions& options,
                              const Evaluate& evaluate) {
  GraphEvaluation result;
  result.metric = graph_metric(targets);
  check_splits({split}, static_cast<int64_t>(targets.values.size()) / targets.tasks());
  std::optional<Plan> strict, paper;
  if (options.strict) strict = make_plan(targets, split, result.metric, Missing::left_out);
  if (options.paper && (!strict || misses_training_labels(targets, split)))
    paper = make_plan(targets, split, result.metric, Missing::zero);
  const auto tasks = static_cast<int64_t>((strict ? strict->tasks.size() : 0) + (paper ? paper->tasks.size() : 0));
  const int64_t total = tasks * (kFolds + 1);
  const std::function<void()> step = [&options, total, done = int64_t{0}]() mutable {
    ++done;
    if (options.progress) options.progress(done, total);
  };
  if (strict) result.strict = evaluate(result.metric, *strict, step);
  if (paper) result.paper = evaluate(result.metric, *paper, step);
  if (options.paper && !paper) result.paper = result.strict;
  return result;
}

}  // namespace

bool misses_training_labels(const GraphTargets& targets, const Split& split) {
  return std::any_of(split.train.begin(), split.train.end(), [&](int32_t id) {
    const auto row = targets.values.subspan(static_cast<size_t>(id * targets.tasks()), targets.names.size());
    return std::any_of(row.begin(), row.end(), [](double label) { return std::isnan(label); });
  });
}

void check_evaluable(const GraphTargets& targets, const Split& split, const GraphEvaluateOptions& options) {
  for_protocols(targets, split, options, [](GraphMetric, const Plan&, const auto&) { return GraphScores(); });
}

GraphEvaluation evaluate_graphs(const Features& rows, const GraphTargets& targets, const Split& split,
                                const GraphEvaluateOptions& options) {
  if (static_cast<size_t>(rows.rows()) * targets.names.size() != targets.values.size()) {
    throw data_error(
        fmt::format("{} rows, but {} labels of {} tasks", rows.rows(), targets.values.size(), targets.tasks()));
  }
  if (rows.columns() == 0) throw data_error("rows without columns: nothing to learn from");
  return for_protocols(targets, split, options, [&](GraphMetric metric, const Plan& plan, const auto& step) {
    return evaluate_protocol(rows, targets, split, metric, plan, options.scaling, options.threads, step);
  });
}

GraphEvaluation evaluate_constant(const GraphTargets& targets, const Split& split,
                                  const GraphEvaluateOptions& options) {
  return for_protocols(targets, split, options, [&](GraphMetric metric, const Plan& plan, const auto&) {
    return constant_scores(targets, split, metric, plan);
  });
}

}  // namespace graphpae
