#include "graphpae/evaluate/graph_protocols.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "graphpae/core/metrics.h"
#include "graphpae/core/rng.h"
#include "graphpae/evaluate/cross_validation.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr int64_t kGraphs = 80, kColumns = 6;

std::vector<int32_t> range(int32_t first, int32_t last) {
  std::vector<int32_t> ids(last - first);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

const Split kSplit{range(0, 50), range(50, 60), range(60, 80)};

Features random_rows() {
  Buffer<float> values(static_cast<size_t>(kGraphs * kColumns));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(Rng(31).normal(i));
  return Features::dense(kGraphs, kColumns, std::move(values));
}

// What the first columns say, and noise: a number, or whether it is above zero.
double signal(int64_t graph, int64_t task) {
  const Features rows = random_rows();
  return rows.dense_row(graph)[task % kColumns] + 0.7 * Rng(32).normal(graph * 10 + task);
}

struct Data {
  std::vector<std::string> names;
  std::vector<double> values;
  GraphTargets targets() const { return {names, values}; }
  double& at(int64_t graph, int64_t task) { return values[graph * static_cast<int64_t>(names.size()) + task]; }
};

Data make_data(int64_t tasks, bool classes) {
  Data data;
  for (int64_t t = 0; t < tasks; ++t) data.names.push_back("task" + std::to_string(t));
  for (int64_t g = 0; g < kGraphs; ++g) {
    for (int64_t t = 0; t < tasks; ++t) data.values.push_back(classes ? signal(g, t) > 0 : signal(g, t));
  }
  return data;
}

GraphEvaluateOptions both(int threads = 1) {
  GraphEvaluateOptions options;
  options.paper = true;
  options.threads = {threads};
  return options;
}

GraphScores strict(const Data& data, const Split& split = kSplit) {
  return *evaluate_graphs(random_rows(), data.targets(), split, {}).strict;
}

TEST(GraphMetric, FollowsTheLabels) {
  Data data = make_data(2, true);
  EXPECT_EQ(graph_metric(data.targets()), GraphMetric::rocauc);
  data.at(3, 1) = kMissing;
  EXPECT_EQ(graph_metric(data.targets()), GraphMetric::rocauc);
  data.at(3, 1) = 2;
  EXPECT_DATA_ERROR(graph_metric(data.targets()), "task task0 has labels 0 and 1 only, task task1 has others");
  EXPECT_DATA_ERROR(graph_metric(data.targets()), "--tasks");
  for (int64_t g = 0; g < kGraphs; ++g) data.at(g, 0) = kMissing;  // neither
  EXPECT_EQ(graph_metric(data.targets()), GraphMetric::rmse);
  for (int64_t g = 0; g < kGraphs; ++g) data.at(g, 1) = kMissing;
  EXPECT_DATA_ERROR(graph_metric(data.targets()), "no labels");
  data.at(3, 1) = std::numeric_limits<double>::infinity();
  EXPECT_DATA_ERROR(graph_metric(data.targets()), "task task1 has an infinite label");
  EXPECT_DATA_ERROR(graph_metric(GraphTargets{}), "no labels");
  EXPECT_STREQ(metric_name(GraphMetric::rocauc), "rocauc");
  EXPECT_STREQ(metric_name(GraphMetric::rmse), "rmse");
}

// With one task strict is as if the rows without a label were not there, and paper as if their labels were 0.
TEST(GraphProtocols, MissingTrainingLabels) {
  for (const bool classes : {true, false}) {
    Data missing = make_data(1, classes), filled = missing;
    Split without = kSplit;
    std::erase_if(without.train, [](int32_t id) { return id % 3 == 0; });
    for (const int32_t id : kSplit.train) {
      if (id % 3 != 0) continue;
      missing.at(id, 0) = kMissing;
      filled.at(id, 0) = 0;
    }
    EXPECT_TRUE(misses_training_labels(missing.targets(), kSplit));
    EXPECT_FALSE(misses_training_labels(filled.targets(), kSplit));
    const GraphEvaluation result = evaluate_graphs(random_rows(), missing.targets(), kSplit, both());
    EXPECT_EQ(result.metric, classes ? GraphMetric::rocauc : GraphMetric::rmse);
    EXPECT_EQ(result.strict->test, strict(missing, without).test);
    EXPECT_EQ(result.strict->val, strict(missing, without).val);
    EXPECT_EQ(result.paper->test, strict(filled).test);
    EXPECT_NE(result.paper->test, result.strict->test);

    // Elsewhere a missing label is only not scored.
    Data unscored = filled;
    Split fewer = kSplit;
    unscored.at(70, 0) = kMissing;
    std::erase(fewer.test, 70);
    const GraphEvaluation scored = evaluate_graphs(random_rows(), unscored.targets(), kSplit, both());
    EXPECT_EQ(scored.strict->test, strict(filled, fewer).test);
    EXPECT_EQ(scored.paper->test, scored.strict->test);
  }
}

// The labels of the parts that are not trained on have no influence on what is chosen and predicted.
TEST(GraphProtocols, OnlyTrainingLabelsChoose) {
  for (const bool classes : {true, false}) {
    const Data data = make_data(1, classes);
    Data other = data;
    for (int32_t id = 50; id < 80; ++id) other.at(id, 0) = data.values[id - 50];
    const GraphScores first = strict(data), second = strict(other);
    EXPECT_EQ(first.tasks[0].penalty, second.tasks[0].penalty);
    EXPECT_NE(first.test, second.test);
    Split swapped = kSplit;
    std::swap(swapped.val, swapped.test);
    EXPECT_EQ(strict(data, swapped).test, first.val);
    swapped = kSplit;
    swapped.val.clear();
    EXPECT_EQ(strict(data, swapped).test, first.test);
    EXPECT_EQ(strict(data, swapped).val, std::nullopt);
  }
}

TEST(GraphProtocols, MeanOverTasks) {
  for (const bool classes : {true, false}) {
    Data data = make_data(3, classes);
    data.at(5, 1) = kMissing;  // a group of its own
    const GraphScores all = strict(data);
    double sum = 0;
    for (int64_t t = 0; t < 3; ++t) {
      Data one{{"one"}, {}};
      for (int64_t g = 0; g < kGraphs; ++g) one.values.push_back(data.at(g, t));
      const GraphScores alone = strict(one);
      EXPECT_EQ(all.tasks[t].test, alone.test) << t;
      EXPECT_EQ(all.tasks[t].val, alone.val) << t;
      EXPECT_EQ(all.tasks[t].penalty, alone.tasks[0].penalty) << t;
      sum += alone.test;
    }
    EXPECT_DOUBLE_EQ(all.test, sum / 3);
    EXPECT_TRUE(all.notes.empty());
    EXPECT_EQ(all.unconverged, 0);
    if (classes) {
      EXPECT_GT(all.test, 0.6);
    }
  }
}

TEST(GraphProtocols, TasksThatCannotBeEvaluatedAreLeftOut) {
  Data data = make_data(4, true);
  for (const int32_t id : kSplit.test) data.at(id, 1) = 1;                      // one class in the test part
  for (const int32_t id : kSplit.train) data.at(id, 2) = id == 7 ? 1 : 0;       // one member to learn from
  for (const int32_t id : kSplit.val) data.at(id, 3) = 0;                       // no matter
  for (const int32_t id : kSplit.train) data.at(id, 3) = id % 13 == 1 ? 1 : 0;  // 1, 14, 27, 40: four folds
  const GraphScores scores = strict(data);
  EXPECT_FALSE(scores.tasks[1].test || scores.tasks[2].test);
  EXPECT_DOUBLE_EQ(scores.test, (*scores.tasks[0].test + *scores.tasks[3].test) / 2);
  EXPECT_EQ(scores.tasks[3].val, std::nullopt);
  EXPECT_EQ(scores.val, scores.tasks[0].val);
  ASSERT_EQ(scores.notes.size(), 3u);
  EXPECT_EQ(scores.notes[0], "task task1 is left out: 20 test labels of class 1 and 0 of class 0");
  EXPECT_EQ(scores.notes[1], "task task2 is left out: 1 training labels of class 1 and 49 of class 0");
  EXPECT_EQ(scores.notes[2], "task task3: 1 of 5 folds hold out one class only and have no say in the choice");

  for (const int32_t id : kSplit.test) data.at(id, 0) = data.at(id, 3) = 0;
  EXPECT_DATA_ERROR(strict(data), "none of 4 tasks can be evaluated; task task0 is left out: 0 test labels of class 1");
  EXPECT_DATA_ERROR(check_evaluable(data.targets(), kSplit, {}), "none of 4 tasks can be evaluated");

  Data numbers = make_data(2, false);
  for (const int32_t id : kSplit.train) numbers.at(id, 0) = id < 4 ? id : kMissing;
  const GraphScores rest = strict(numbers);
  EXPECT_EQ(rest.notes[0], "task task0 is left out: 4 training labels for 5 folds");
  EXPECT_EQ(rest.test, rest.tasks[1].test);
  for (const int32_t id : kSplit.test) numbers.at(id, 1) = kMissing;
  EXPECT_DATA_ERROR(strict(numbers), "none of 2 tasks");
  // Filled with zeros there are labels enough.
  GraphEvaluateOptions paper;
  paper.strict = false;
  paper.paper = true;
  EXPECT_TRUE(evaluate_graphs(random_rows(), numbers.targets(), kSplit, paper).paper->tasks[0].test);
}

TEST(GraphProtocols, Constant) {
  Data data = make_data(1, false);
  data.at(2, 0) = kMissing;
  const GraphEvaluation result = evaluate_constant(data.targets(), kSplit, both());
  double sum = 0;
  for (const int32_t id : kSplit.train) sum += id == 2 ? 0 : data.at(id, 0);
  const std::vector<double> truth(data.values.begin() + 60, data.values.end());
  EXPECT_NEAR(result.strict->test, *rmse(std::vector<double>(20, sum / 49), truth), 1e-14);
  EXPECT_NEAR(result.paper->test, *rmse(std::vector<double>(20, sum / 50), truth), 1e-14);
  EXPECT_EQ(evaluate_constant(make_data(2, true).targets(), kSplit, {}).strict->test, 0.5);
}

TEST(GraphProtocols, SameBitsForAnyNumberOfThreads) {
  for (const bool classes : {true, false}) {
    Data data = make_data(3, classes);
    data.at(5, 1) = kMissing;
    int64_t seen = 0, last_total = 0;
    GraphEvaluateOptions options = both();
    options.progress = [&](int64_t done, int64_t total) {
      EXPECT_EQ(done, ++seen);
      last_total = total;
    };
    const GraphEvaluation one = evaluate_graphs(random_rows(), data.targets(), kSplit, options);
    EXPECT_EQ(seen, last_total);
    EXPECT_EQ(seen, 2 * 3 * (kFolds + 1));
    for (const int threads : {2, 5}) {
      const GraphEvaluation other = evaluate_graphs(random_rows(), data.targets(), kSplit, both(threads));
      for (int64_t t = 0; t < 3; ++t) {
        EXPECT_EQ(other.strict->tasks[t].test, one.strict->tasks[t].test);
        EXPECT_EQ(other.paper->tasks[t].val, one.paper->tasks[t].val);
      }
      EXPECT_EQ(other.paper->test, one.paper->test);
    }
  }
}

TEST(GraphProtocols, RefusesWhatDoesNotFit) {
  const Data data = make_data(1, true);
  Split overlapping = kSplit;
  overlapping.test.push_back(3);
  EXPECT_DATA_ERROR(strict(data, overlapping), "3");
  Split outside = kSplit;
  outside.test.push_back(80);
  EXPECT_DATA_ERROR(strict(data, outside), "80");
  Split untrained = kSplit;
  untrained.train.clear();
  EXPECT_DATA_ERROR(strict(data, untrained), "task task0 is left out: no training label");
  EXPECT_DATA_ERROR(evaluate_graphs(Features::dense(2, 1, Buffer<float>{1, 2}), data.targets(), kSplit, {}),
                    "2 rows, but 80 labels");
  EXPECT_DATA_ERROR(evaluate_graphs(Features::dense(kGraphs, 0, {}), data.targets(), kSplit, {}), "without columns");
}

}  // namespace
}  // namespace graphpae
