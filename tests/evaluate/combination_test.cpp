#include "graphpae/evaluate/combination.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graphpae/core/rng.h"

namespace graphpae {
namespace {

// Log-probabilities of two classes for rows labelled 0, 1, 0, 1, ...: right in those that `knows` says.
template <class Knows>
std::vector<float> member(int64_t rows, double sure, const Knows& knows) {
  std::vector<float> values;
  for (int64_t i = 0; i < rows; ++i) {
    const double right = knows(i) ? sure : 1 - sure;
    const double first = i % 2 == 0 ? right : 1 - right;
    values.push_back(static_cast<float>(std::log(first)));
    values.push_back(static_cast<float>(std::log(1 - first)));
  }
  return values;
}

std::vector<int32_t> alternating(int64_t rows) {
  std::vector<int32_t> labels;
  for (int64_t i = 0; i < rows; ++i) labels.push_back(static_cast<int32_t>(i % 2));
  return labels;
}

TEST(Combination, TakesWhatHelpsAndLeavesNoise) {
  constexpr int64_t kRows = 40;
  const std::vector<int32_t> labels = alternating(kRows);
  std::vector<int32_t> ids(kRows);
  for (int32_t i = 0; i < kRows; ++i) ids[i] = i;
  // Each of two is wrong where the other is surer; a third is wrong everywhere.
  const auto first = member(kRows, 0.6, [](int64_t i) { return i >= 10; });
  auto second = member(kRows, 0.6, [](int64_t i) { return i < 28; });
  const auto sure = member(kRows, 0.9, [](int64_t i) { return i < 10; });
  std::copy_n(sure.begin(), 20, second.begin());
  const auto wrong = member(kRows, 0.9, [](int64_t) { return false; });
  const std::vector<const std::vector<float>*> members = {&first, &second, &wrong};
  const std::vector<double> weights = choose_weights(members, 2, labels, ids, NodeMetric::accuracy);
  EXPECT_GT(weights[0], 0.2);
  EXPECT_GT(weights[1], 0.1);
  EXPECT_DOUBLE_EQ(weights[2], 0);
  EXPECT_NEAR(weights[0] + weights[1], 1, 1e-12);
  const std::vector<float> together = weighted_sum(members, weights);
  EXPECT_GT(node_score(NodeMetric::accuracy, together, 2, labels, ids),
            node_score(NodeMetric::accuracy, first, 2, labels, ids));
}

TEST(Combination, OfOneIsThatOne) {
  const std::vector<int32_t> labels = alternating(4), ids = {0, 1, 2, 3};
  const auto only = member(4, 0.7, [](int64_t i) { return i != 2; });
  const std::vector<const std::vector<float>*> members = {&only};
  const std::vector<double> weights = choose_weights(members, 2, labels, ids, NodeMetric::accuracy);
  EXPECT_EQ(weights, std::vector<double>{1});
  EXPECT_EQ(weighted_sum(members, weights), only);
}

TEST(Combination, WeightsComeFromValidationOfTheSplit) {
  const std::vector<int32_t> labels = alternating(6);
  const std::vector<Split> splits = {{{0}, {1, 2}, {3, 4, 5}}};
  const auto good_val = member(6, 0.9, [](int64_t i) { return i == 1 || i == 2; });
  const auto good_test = member(6, 0.9, [](int64_t i) { return i > 2; });
  const auto rows = [](const std::vector<float>& all, std::vector<int64_t> ids) {
    std::vector<float> values;
    for (const int64_t id : ids) values.insert(values.end(), {all[2 * id], all[2 * id + 1]});
    return values;
  };
  TunedEvaluation a, b;
  a.predictions = {{rows(good_val, {1, 2}), rows(good_val, {3, 4, 5})}};
  b.predictions = {{rows(good_test, {1, 2}), rows(good_test, {3, 4, 5})}};
  const std::vector<const TunedEvaluation*> members = {&a, &b};
  const Combination both = combine(members, labels, 2, splits, NodeMetric::accuracy);
  EXPECT_EQ(both.weights, (std::vector<std::vector<double>>{{1, 0}}));
  EXPECT_DOUBLE_EQ(both.scores.test.front(), 0);
  EXPECT_DOUBLE_EQ(*both.scores.validation.front(), 1);
}

}  // namespace
}  // namespace graphpae
