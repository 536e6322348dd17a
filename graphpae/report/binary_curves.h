// How well scores tell two classes apart: ROC, precision and recall, calibration.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace graphpae {

// Points of a curve, in order.
struct PlaneCurve {
  std::vector<double> x, y;
};

// scores [N] and labels [N], true for the positives; both classes must be there. Rows with the same score belong
// together, so the curves do not depend on the order of rows. At most `points` points are kept, the ends among them.
PlaneCurve roc_curve(std::span<const double> scores, const std::vector<bool>& labels, size_t points);

// Precision over recall, from the highest score down.
PlaneCurve precision_recall_curve(std::span<const double> scores, const std::vector<bool>& labels, size_t points);
// The mean of precision over the steps of recall.
double average_precision(std::span<const double> scores, const std::vector<bool>& labels);

// Rows in order of their score, in `bins` groups as large as each other: the mean score of each against the share of
// positives in it. Rows with the same score stay together.
PlaneCurve calibration_curve(std::span<const double> scores, const std::vector<bool>& labels, size_t bins);
// The mean squared difference of score and label.
double brier_score(std::span<const double> scores, const std::vector<bool>& labels);

}  // namespace graphpae
