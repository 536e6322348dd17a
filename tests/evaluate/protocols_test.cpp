#include "graphpae/evaluate/protocols.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "graphpae/core/rng.h"
#include "graphpae/evaluate/random_splits.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

constexpr int64_t kNodes = 200, kColumns = 24, kClasses = 4;

std::vector<int32_t> random_labels(uint64_t seed) {
  std::vector<int32_t> labels(kNodes);
  for (int64_t i = 0; i < kNodes; ++i)
    labels[i] = static_cast<int32_t>(Rng(seed).below(static_cast<uint64_t>(i), kClasses));
  return labels;
}

// Noise [N,D], and the class in the first columns if `signal` > 0.
Features rows_for(const std::vector<int32_t>& labels, float signal) {
  const Rng rng(77);
  Buffer<float> values(static_cast<size_t>(kNodes * kColumns));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(rng.normal(i));
  for (int64_t i = 0; i < kNodes; ++i) {
    if (labels[i] >= 0) values[i * kColumns + labels[i]] += signal;
  }
  return Features::dense(kNodes, kColumns, std::move(values));
}

std::vector<Split> ten_splits(const std::vector<int32_t>& labels) {
  RandomSplitOptions options = parse_split_shares("48/32/20");
  options.count = 10;
  return random_splits(labels, options);
}

EvaluateOptions both(int64_t epochs = 100) {
  EvaluateOptions options;
  options.probe = {.lr = 0.02, .epochs = epochs};
  options.paper = true;
  return options;
}

TEST(Protocols, LabelsThatMeanNothingCannotBePredictedStrictly) {
  const std::vector<int32_t> labels = random_labels(1);
  const Evaluation result = evaluate(rows_for(labels, 0), labels, kClasses, ten_splits(labels), both());
  EXPECT_EQ(result.strict->test.size(), 10u);
  EXPECT_NEAR(result.strict->summary().mean, 0.25, 0.06);
  // The same probes under the paper's protocol seem to have learned: they are tested on what they were trained on.
  EXPECT_GT(result.paper->summary().mean, result.strict->summary().mean + 0.1);
}

TEST(Protocols, BothFindWhatIsThere) {
  const std::vector<int32_t> labels = random_labels(1);
  const Evaluation result = evaluate(rows_for(labels, 8), labels, kClasses, ten_splits(labels), both());
  EXPECT_GT(result.strict->summary().mean, 0.97);
  EXPECT_GT(result.paper->summary().mean, 0.97);
}

// The whole procedure once more, plainly, from the candidates' predictions.
TEST(Protocols, ChooseWhatTheyPromise) {
  const std::vector<int32_t> labels = random_labels(2);
  const Features rows = rows_for(labels, 1);
  const std::vector<Split> splits = ten_splits(labels);
  EvaluateOptions options = both(60);
  options.seeds = 2;
  options.seed = 5;
  const Evaluation result = evaluate(rows, labels, kClasses, splits, options);
  ASSERT_EQ(result.strict->seeds, 2);

  std::vector<int32_t> every(kNodes);
  std::iota(every.begin(), every.end(), 0);
  const DesignMatrix x(rows, every, Threads{});
  const std::vector<int32_t> pooled = pooled_test(splits);
  int64_t differing = 0;
  for (size_t k = 0; k < 20; ++k) {
    const Split& split = splits[k / 2];
    ProbeProblem problem{split.train, {}, 5 + k % 2};
    for (const int32_t node : split.train) problem.labels.push_back(labels[node]);
    std::vector<double> validation, test, pool;
    const auto share = [&](std::span<const int32_t> predictions, const std::vector<int32_t>& nodes) {
      double right = 0;
      for (const int32_t node : nodes) right += predictions[node] == labels[node];
      return right / static_cast<double>(nodes.size());
    };
    train_probes(
        x, kClasses, std::vector{problem}, options.probe,
        [&](int64_t, std::span<const int32_t> predictions) {
          validation.push_back(share(predictions, split.val));
          test.push_back(share(predictions, split.test));
          pool.push_back(share(predictions, pooled));
        },
        Threads{});
    const auto first_best = std::max_element(validation.begin(), validation.end()) - validation.begin();
    EXPECT_DOUBLE_EQ(result.strict->test[k], test[first_best]);
    EXPECT_EQ(result.strict->chosen[k], first_best);
    EXPECT_DOUBLE_EQ(result.strict->validation[k].value(), validation[first_best]);
    double best = -1, largest = -1;
    for (size_t e = 0; e < validation.size(); ++e) {
      if (validation[e] < best) continue;
      best = validation[e];
      largest = std::max(largest, pool[e]);
    }
    EXPECT_DOUBLE_EQ(result.paper->test[k], largest);
    EXPECT_DOUBLE_EQ(pool[result.paper->chosen[k]], largest);
    EXPECT_DOUBLE_EQ(result.paper->validation[k].value(), validation[result.paper->chosen[k]]);
    differing += test[first_best] != *std::max_element(test.begin(), test.end());
  }
  EXPECT_GT(differing, 10);  // otherwise a protocol that looks at the test labels would pass, too
}

TEST(Protocols, TestLabelsDoNotMoveTheStrictChoice) {
  const std::vector<int32_t> labels = random_labels(3);
  const Features rows = rows_for(labels, 1);
  const std::vector<Split> splits = {ten_splits(labels)[0]};
  std::vector<int32_t> other = labels;
  for (const int32_t node : splits[0].test) other[node] = (other[node] + 1) % kClasses;
  const Evaluation a = evaluate(rows, labels, kClasses, splits, both());
  const Evaluation b = evaluate(rows, other, kClasses, splits, both());
  EXPECT_EQ(a.strict->chosen, b.strict->chosen);
  EXPECT_NE(a.strict->test, b.strict->test);
}

TEST(Protocols, UnlabelledNodesAreNeverUsed) {
  std::vector<int32_t> labels = random_labels(4);
  std::vector<Split> splits = ten_splits(labels);
  const Features rows = rows_for(labels, 1);
  for (int64_t i = 0; i < kNodes; i += 3) labels[i] = -1;
  const Evaluation with = evaluate(rows, labels, kClasses, splits, both());
  const Evaluation without = evaluate(rows, labels, kClasses, labelled_only(splits, labels), both());
  EXPECT_EQ(with.strict->test, without.strict->test);
  EXPECT_EQ(with.paper->test, without.paper->test);
  EXPECT_EQ(with.strict->confusion->total(), without.strict->confusion->total());
  int64_t labelled_tests = 0;
  for (const Split& split : splits) {
    for (const int32_t node : split.test) labelled_tests += labels[node] >= 0;
  }
  EXPECT_EQ(with.strict->confusion->total(), labelled_tests);
}

TEST(Protocols, ThreadsAndGroupsDoNotChangeScores) {
  const std::vector<int32_t> labels = random_labels(5);
  const Features rows = rows_for(labels, 1);
  const std::vector<Split> splits = ten_splits(labels);
  EvaluateOptions options = both(40);
  options.seeds = 3;  // 30 problems of 4 classes: more than one group
  const Evaluation one = evaluate(rows, labels, kClasses, splits, options);
  options.threads = Threads{4};
  const Evaluation four = evaluate(rows, labels, kClasses, splits, options);
  EXPECT_EQ(one.strict->test, four.strict->test);
  EXPECT_EQ(one.paper->test, four.paper->test);
  // The first seed of the last split, on its own.
  options.seeds = 1;
  const Evaluation alone = evaluate(rows, labels, kClasses, {splits[9]}, options);
  EXPECT_EQ(alone.strict->test[0], one.strict->test[27]);
}

TEST(Protocols, LbfgsProbeIsStrictOnly) {
  const std::vector<int32_t> labels = random_labels(6);
  EvaluateOptions options;
  options.probe.kind = ProbeKind::lbfgs;
  const Evaluation result = evaluate(rows_for(labels, 4), labels, kClasses, ten_splits(labels), options);
  EXPECT_GT(result.strict->summary().mean, 0.9);
  EXPECT_EQ(result.unconverged, 0);
  options.paper = true;
  EXPECT_USAGE_ERROR(evaluate(rows_for(labels, 4), labels, kClasses, ten_splits(labels), options), "adam");
}

TEST(Protocols, MajorityByHand) {
  //                                 train    val  test
  const std::vector<int32_t> labels = {1, 1, 0, 1, 1, 0, 2};
  const std::vector<Split> splits = {{{0, 1, 2}, {3}, {4, 5, 6}}, {{2, 5, 0}, {3}, {4, 1}}};
  EvaluateOptions options;
  options.paper = true;
  const Evaluation result = evaluate_majority(labels, 3, splits, options);
  // Split 0: class 1, right for node 4 of 4, 5, 6. Split 1: class 0 (nodes 2 and 5), wrong for both.
  EXPECT_EQ(result.strict->test, (std::vector<double>{1.0 / 3, 0}));
  // Pooled test nodes 1, 4, 5, 6: class 1 is right for 1 and 4, class 0 for 5.
  EXPECT_EQ(result.paper->test, (std::vector<double>{0.5, 0.25}));
}

TEST(Protocols, PooledTestByHand) {
  const std::vector<Split> splits = {{{0, 1, 2}, {3}, {4, 5}}, {{4, 5, 6}, {0}, {1, 2, 3}}};
  EXPECT_EQ(pooled_test(splits), (std::vector<int32_t>{1, 2, 3, 4, 5}));
  // Split 0 trains on 1 and 2 of the pool, split 1 on 4 and 5.
  EXPECT_DOUBLE_EQ(trained_share(splits), 0.4);
  EXPECT_EQ(trained_share({splits[0]}), 0);
}

TEST(Protocols, JoinedScoresStayWithTheirSplits) {
  ProtocolScores a, b;
  a.splits = b.splits = 2;
  a.seeds = 1;
  b.seeds = 2;
  a.test = {0.1, 0.2};
  b.test = {0.3, 0.4, 0.5, 0.6};
  a.chosen = {1, 2};
  b.chosen = {3, 4, 5, 6};
  a.validation = {0.7, 0.8};
  b.validation = {0.9, 0.95, 0.96, 0.97};
  a.confusion = b.confusion = Confusion(2);
  b.confusion->add(0, 1);
  a.append(b);
  EXPECT_EQ(a.seeds, 3);
  EXPECT_EQ(a.test, (std::vector<double>{0.1, 0.3, 0.4, 0.2, 0.5, 0.6}));
  EXPECT_EQ(a.chosen, (std::vector<int64_t>{1, 3, 4, 2, 5, 6}));
  EXPECT_EQ(a.validation, (std::vector<std::optional<double>>{0.7, 0.9, 0.95, 0.8, 0.96, 0.97}));
  EXPECT_EQ(a.confusion->count(0, 1), 1);
}

TEST(Protocols, PairedDifferenceByHand) {
  ProtocolScores a, b;
  a.splits = b.splits = 3;
  a.seeds = 2;
  b.seeds = 1;
  a.test = {0.5, 0.7, 0.4, 0.4, 0.9, 0.7};  // 0.6, 0.4, 0.8 by split
  b.test = {0.5, 0.5, 0.6};
  const PairedDifference paired = compare(a, b);
  EXPECT_EQ(paired.pairs, 3);
  EXPECT_EQ(paired.better, 2);
  EXPECT_NEAR(paired.difference.mean, (0.1 - 0.1 + 0.2) / 3, 1e-12);
  a.splits = b.splits = 1;  // of one split, score by score
  a.seeds = b.seeds = 2;
  a.test = {0.5, 0.7};
  b.test = {0.6, 0.6};
  EXPECT_EQ(compare(a, b).pairs, 2);
  EXPECT_EQ(compare(a, b).better, 1);
  b.test = {0.6, 0.6, 0.1};
  b.seeds = 3;
  EXPECT_DATA_ERROR(compare(a, b), "1 x 2 scores cannot be compared with 1 x 3");
}

TEST(Protocols, RefuseWhatCannotBeEvaluated) {
  const std::vector<int32_t> labels = random_labels(7);
  const Features rows = rows_for(labels, 1);
  const auto run = [&](const std::vector<Split>& splits) { evaluate(rows, labels, kClasses, splits, both(1)); };
  EXPECT_DATA_ERROR(run({}), "no splits");
  EXPECT_DATA_ERROR(run({{{}, {1}, {2}}}), "split 0: no labelled node to train on");
  EXPECT_DATA_ERROR(run({{{1}, {}, {2}}}), "to validate on");
  EXPECT_DATA_ERROR(run({{{1}, {2}, {}}}), "to test on");
  EXPECT_DATA_ERROR(run({{{1, 3}, {2}, {3}}}), "id 3 is in both train and test");
  EXPECT_DATA_ERROR(evaluate(rows, std::vector<int32_t>(3, 0), kClasses, {{{0}, {1}, {2}}}, both(1)),
                    "200 rows, but 3 labels");
}

}  // namespace
}  // namespace graphpae
