#include "graphpae/core/metrics.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graphpae/core/rng.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

using Numbers = std::vector<double>;

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr double kInfinity = std::numeric_limits<double>::infinity();

// Rows are true classes. Class 3 does not occur, class 2 is never right.
//   3 1 0 0
//   2 4 1 0
//   1 0 0 0
//   0 0 0 0
Confusion small_confusion() {
  Confusion confusion(4);
  const int counts[3][3] = {{3, 1, 0}, {2, 4, 1}, {1, 0, 0}};
  for (int truth = 0; truth < 3; ++truth) {
    for (int predicted = 0; predicted < 3; ++predicted) {
      for (int i = 0; i < counts[truth][predicted]; ++i) confusion.add(truth, predicted);
    }
  }
  return confusion;
}

TEST(Confusion, CountsRowsOfTruth) {
  const Confusion confusion = small_confusion();
  EXPECT_EQ(confusion.classes(), 4);
  EXPECT_EQ(confusion.total(), 12);
  EXPECT_EQ(confusion.count(0, 1), 1);
  EXPECT_EQ(confusion.count(1, 0), 2);
  EXPECT_EQ(confusion.count(2, 0), 1);
  EXPECT_EQ(confusion.count(0, 2), 0);
}

TEST(Confusion, ScoresByHand) {
  const Confusion confusion = small_confusion();
  EXPECT_DOUBLE_EQ(confusion.accuracy(), 7.0 / 12);  // (3 + 4) of 12

  const ClassScore first = confusion.class_score(0);  // 3 right, 3 + 1 members, 3 + 2 + 1 predictions
  EXPECT_EQ(first.support, 4);
  EXPECT_DOUBLE_EQ(first.precision, 3.0 / 6);
  EXPECT_DOUBLE_EQ(first.recall, 3.0 / 4);
  EXPECT_DOUBLE_EQ(first.f1, 0.6);  // 2 * 1/2 * 3/4 / (1/2 + 3/4)

  const ClassScore second = confusion.class_score(1);  // 4 right, 2 + 4 + 1 members, 1 + 4 predictions
  EXPECT_EQ(second.support, 7);
  EXPECT_DOUBLE_EQ(second.precision, 4.0 / 5);
  EXPECT_DOUBLE_EQ(second.recall, 4.0 / 7);
  EXPECT_DOUBLE_EQ(second.f1, 2.0 / 3);  // 2 * 4/5 * 4/7 / (4/5 + 4/7) = (32/35) / (48/35)

  // Class 2 counts with F1 = 0, class 3 does not count.
  EXPECT_DOUBLE_EQ(confusion.macro_f1(), (0.6 + 2.0 / 3 + 0) / 3);
}

TEST(Confusion, ZeroWhereNothingDivides) {
  const Confusion confusion = small_confusion();
  for (const int cls : {2, 3}) {
    const ClassScore score = confusion.class_score(cls);
    EXPECT_EQ(score.support, cls == 2 ? 1 : 0);
    EXPECT_EQ(score.precision, 0);
    EXPECT_EQ(score.recall, 0);
    EXPECT_EQ(score.f1, 0);
  }
}

// Class 1 is only predicted, class 2 is only true: both count in the mean.
TEST(Confusion, MacroF1HasClassesOfEitherSide) {
  Confusion confusion(5);
  confusion.add(0, 0);
  confusion.add(0, 1);
  confusion.add(2, 0);
  // Class 0: 1 right, 2 members, 2 predictions: F1 = 1/2.
  EXPECT_DOUBLE_EQ(confusion.macro_f1(), (0.5 + 0 + 0) / 3);
}

TEST(Confusion, SumsCounts) {
  Confusion sum = small_confusion();
  Confusion other(4);
  other.add(0, 1);
  other.add(3, 3);
  sum += other;
  EXPECT_EQ(sum.total(), 14);
  EXPECT_EQ(sum.count(0, 1), 2);
  EXPECT_EQ(sum.count(1, 0), 2);
  EXPECT_EQ(sum.count(3, 3), 1);
  EXPECT_EQ(other.total(), 2);
}

TEST(Confusion, RefusesMisuse) {
  Confusion confusion(3);
  EXPECT_DATA_ERROR(Confusion(0), "0 classes");
  EXPECT_DATA_ERROR(confusion.add(3, 0), "class 3 is outside 0..2");
  EXPECT_DATA_ERROR(confusion.add(0, 3), "class 3 is outside 0..2");
  EXPECT_DATA_ERROR(confusion.add(-1, 0), "class -1 is outside 0..2");
  EXPECT_DATA_ERROR(confusion.add(0, -1), "class -1 is outside 0..2");
  EXPECT_DATA_ERROR(confusion.count(1, 3), "class 3");
  EXPECT_DATA_ERROR(confusion.class_score(3), "class 3");
  EXPECT_DATA_ERROR(confusion += Confusion(2), "of 3 and of 2 classes");
  EXPECT_DATA_ERROR(confusion.accuracy(), "no predictions");
  EXPECT_DATA_ERROR(confusion.macro_f1(), "no predictions");
  EXPECT_EQ(confusion.total(), 0);
}

TEST(Accuracy, CountsEqualClasses) {
  const std::vector<int32_t> truth = {0, 1, 2, 2, 5}, predicted = {0, 2, 2, 2, 4};
  EXPECT_DOUBLE_EQ(accuracy(truth, predicted), 3.0 / 5);
  EXPECT_DOUBLE_EQ(accuracy(truth, truth), 1);
}

TEST(Accuracy, RefusesMisuse) {
  const std::vector<int32_t> two = {0, 1}, three = {0, 1, 2}, unlabelled = {0, -1};
  EXPECT_DATA_ERROR(accuracy(two, three), "3 predictions were found for 2 labels");
  EXPECT_DATA_ERROR(accuracy({}, {}), "no predictions");
  EXPECT_DATA_ERROR(accuracy(unlabelled, unlabelled), "label 1 is -1");
}

TEST(RocAuc, ByHand) {
  // Positives 0.9 and 0.4, negatives 0.5 and 0.1: of four pairs only (0.4, 0.5) is lost.
  EXPECT_DOUBLE_EQ(*roc_auc(Numbers{0.9, 0.5, 0.4, 0.1}, Numbers{1, 0, 1, 0}), 3.0 / 4);
  // Positives 2 and 1, negatives 2 and 0: a tie, a win, a loss, a win.
  EXPECT_DOUBLE_EQ(*roc_auc(Numbers{2, 2, 1, 0}, Numbers{1, 0, 1, 0}), 2.5 / 4);
  EXPECT_DOUBLE_EQ(*roc_auc(Numbers{1, 2, 3}, Numbers{0, 0, 1}), 1);
  EXPECT_DOUBLE_EQ(*roc_auc(Numbers{3, 2, 1}, Numbers{0, 0, 1}), 0);
  EXPECT_DOUBLE_EQ(*roc_auc(Numbers{7, 7, 7}, Numbers{0, 0, 1}), 0.5);
  // Zeros tie whatever their signs; infinite scores have a place in the order.
  EXPECT_DOUBLE_EQ(*roc_auc(Numbers{-0.0, 0.0}, Numbers{0, 1}), 0.5);
  EXPECT_DOUBLE_EQ(*roc_auc(Numbers{-kInfinity, 1, kInfinity}, Numbers{0, 0, 1}), 1);
}

TEST(RocAuc, NeedsBothClasses) {
  EXPECT_FALSE(roc_auc(Numbers{1, 2}, Numbers{1, 1}));
  EXPECT_FALSE(roc_auc(Numbers{1, 2}, Numbers{0, 0}));
  EXPECT_FALSE(roc_auc(Numbers{1, 2, 3}, Numbers{0, kMissing, 0}));
  EXPECT_FALSE(roc_auc(Numbers{1, 2}, Numbers{kMissing, kMissing}));
  EXPECT_FALSE(roc_auc({}, {}));
}

TEST(RocAuc, RefusesMisuse) {
  EXPECT_DATA_ERROR(roc_auc(Numbers{1}, Numbers{0, 1}), "1 predictions were found for 2 labels");
  EXPECT_DATA_ERROR(roc_auc(Numbers{1, 2}, Numbers{0, 2}), "label 1 is 2, not 0 or 1");
  EXPECT_ERROR(roc_auc(Numbers{1, kMissing}, Numbers{0, 1}), ErrorKind::numerical, "score 1 is NaN");
  EXPECT_ERROR(roc_auc(Numbers{kMissing, 1, 2}, Numbers{kMissing, 0, 1}), ErrorKind::numerical, "score 0 is NaN");
}

// Every pair of a positive and a negative looked at.
std::optional<double> auc_of_pairs(const Numbers& scores, const Numbers& labels) {
  double won = 0, pairs = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    for (size_t j = 0; j < labels.size(); ++j) {
      if (labels[i] != 1 || labels[j] != 0) continue;
      ++pairs;
      won += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
    }
  }
  if (pairs == 0) return std::nullopt;
  return won / pairs;
}

TEST(RocAuc, MatchesAllPairsWithTiesAndMissingLabels) {
  int defined = 0, undefined = 0, with_ties = 0;
  for (uint64_t seed = 0; seed < 300; ++seed) {
    const Rng rng(seed);
    const uint64_t size = 1 + rng.below(0, 40), levels = 1 + rng.below(1, 12);
    const double positive = rng.uniform(2);
    Numbers scores, labels;
    for (uint64_t i = 0; i < size; ++i) {
      scores.push_back(static_cast<double>(rng.stream(1).below(i, levels)) / 10 - 0.4);
      labels.push_back(rng.stream(2).uniform(i) < 0.3 ? kMissing : rng.stream(3).uniform(i) < positive);
    }
    const std::optional<double> expected = auc_of_pairs(scores, labels), found = roc_auc(scores, labels);
    ASSERT_EQ(found.has_value(), expected.has_value()) << seed;
    expected ? ++defined : ++undefined;
    if (!expected) continue;
    with_ties += size > levels;
    ASSERT_NEAR(*found, *expected, 1e-14) << seed;
  }
  EXPECT_GT(defined, 150);
  EXPECT_GT(undefined, 10);
  EXPECT_GT(with_ties, 100);
}

TEST(RegressionError, ByHand) {
  const Numbers predictions = {1, 2, 7, 5}, labels = {2, 2, kMissing, 1};
  // Errors -1, 0 and 4; the third label is missing.
  EXPECT_DOUBLE_EQ(*rmse(predictions, labels), std::sqrt((1.0 + 0 + 16) / 3));
  EXPECT_DOUBLE_EQ(*mae(predictions, labels), (1.0 + 0 + 4) / 3);
}

TEST(RegressionError, HasNoValueWithoutALabel) {
  EXPECT_FALSE(rmse(Numbers{1, 2}, Numbers{kMissing, kMissing}));
  EXPECT_FALSE(mae(Numbers{1, 2}, Numbers{kMissing, kMissing}));
  EXPECT_FALSE(rmse({}, {}));
}

TEST(RegressionError, RefusesMisuse) {
  EXPECT_DATA_ERROR(rmse(Numbers{1}, Numbers{0, 1}), "1 predictions were found for 2 labels");
  EXPECT_DATA_ERROR(rmse(Numbers{1, 2}, Numbers{0, kInfinity}), "label 1 is inf");
  EXPECT_ERROR(rmse(Numbers{1, kInfinity}, Numbers{0, 1}), ErrorKind::numerical, "prediction 1 is inf");
  EXPECT_ERROR(mae(Numbers{kMissing, 1}, Numbers{kMissing, 1}), ErrorKind::numerical, "prediction 0 is nan");
}

}  // namespace
}  // namespace graphpae
