#include "graphpae/report/binary_curves.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "graphpae/core/metrics.h"
#include "graphpae/core/rng.h"

namespace graphpae {
namespace {

double area(const PlaneCurve& curve) {
  double sum = 0;
  for (size_t k = 1; k < curve.x.size(); ++k) sum += (curve.x[k] - curve.x[k - 1]) * (curve.y[k] + curve.y[k - 1]) / 2;
  return sum;
}

// Scores by hand: 0.9 +, 0.8 -, 0.8 +, 0.3 -, 0.1 -.
const std::vector<double> kScores = {0.3, 0.9, 0.8, 0.1, 0.8};
const std::vector<bool> kLabels = {false, true, false, false, true};

TEST(BinaryCurves, ByHand) {
  const PlaneCurve roc = roc_curve(kScores, kLabels, 100);
  EXPECT_EQ(roc.x, (std::vector<double>{0, 0, 1.0 / 3, 2.0 / 3, 1}));
  EXPECT_EQ(roc.y, (std::vector<double>{0, 0.5, 1, 1, 1}));
  const PlaneCurve precision = precision_recall_curve(kScores, kLabels, 100);
  EXPECT_EQ(precision.x, (std::vector<double>{0.5, 1, 1, 1}));
  EXPECT_EQ(precision.y, (std::vector<double>{1, 2.0 / 3, 0.5, 0.4}));
  EXPECT_NEAR(average_precision(kScores, kLabels), 0.5 * 1 + 0.5 * 2 / 3, 1e-15);
  EXPECT_NEAR(brier_score(kScores, kLabels), (0.09 + 0.01 + 0.64 + 0.01 + 0.04) / 5, 1e-15);
  const PlaneCurve calibration = calibration_curve(kScores, kLabels, 2);
  ASSERT_EQ(calibration.x.size(), 2u);
  EXPECT_NEAR(calibration.x[1], 0.9, 1e-15);  // equal scores stay together
  EXPECT_EQ(calibration.y, (std::vector<double>{0.25, 1}));
}

TEST(BinaryCurves, TheAreaBelowIsTheScore) {
  const Rng rng(3);
  std::vector<double> scores, numbers;
  std::vector<bool> labels;
  for (uint64_t i = 0; i < 500; ++i) {
    labels.push_back(rng.uniform(3 * i) < 0.3);
    numbers.push_back(labels.back() ? 1 : 0);
    // Some are equal.
    scores.push_back(std::round(20 * (0.6 * rng.uniform(3 * i + 1) + (labels.back() ? 0.2 : 0))) / 20);
  }
  EXPECT_NEAR(area(roc_curve(scores, labels, 1000)), *roc_auc(scores, numbers), 1e-12);
  const PlaneCurve thin = roc_curve(scores, labels, 5);
  EXPECT_EQ(thin.x.size(), 5u);
  EXPECT_EQ(thin.x.back(), 1);
  EXPECT_EQ(thin.y.back(), 1);
  const PlaneCurve calibration = calibration_curve(scores, labels, 10);
  EXPECT_GE(calibration.x.size(), 5u);
  EXPECT_LE(calibration.x.size(), 10u);
  EXPECT_TRUE(std::is_sorted(calibration.x.begin(), calibration.x.end()));
}

}  // namespace
}  // namespace graphpae
