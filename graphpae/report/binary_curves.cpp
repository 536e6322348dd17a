#include "graphpae/report/binary_curves.h"

#include <algorithm>
#include <numeric>

namespace graphpae {
namespace {

// Rows from the highest score down, and after each group of equal scores how many positives and negatives there were.
struct Step {
  double score;
  double positives, negatives;
};

std::vector<Step> steps_down(std::span<const double> scores, const std::vector<bool>& labels) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
  std::vector<Step> steps;
  Step step{0, 0, 0};
  for (size_t k = 0; k < order.size(); ++k) {
    (labels[order[k]] ? step.positives : step.negatives) += 1;
    step.score = scores[order[k]];
    if (k + 1 == order.size() || scores[order[k + 1]] < step.score) steps.push_back(step);
  }
  return steps;
}

PlaneCurve thinned(const PlaneCurve& curve, size_t points) {
  const size_t n = curve.x.size();
  if (n <= points) return curve;
  PlaneCurve kept;
  for (size_t k = 0; k < points; ++k) {
    const size_t at = k * (n - 1) / (points - 1);
    kept.x.push_back(curve.x[at]);
    kept.y.push_back(curve.y[at]);
  }
  return kept;
}

}  // namespace

PlaneCurve roc_curve(std::span<const double> scores, const std::vector<bool>& labels, size_t points) {
  const std::vector<Step> steps = steps_down(scores, labels);
  PlaneCurve curve{{0}, {0}};
  for (const Step& step : steps) {
    curve.x.push_back(step.negatives / steps.back().negatives);
    curve.y.push_back(step.positives / steps.back().positives);
  }
  return thinned(curve, points);
}

PlaneCurve precision_recall_curve(std::span<const double> scores, const std::vector<bool>& labels, size_t points) {
  const std::vector<Step> steps = steps_down(scores, labels);
  PlaneCurve curve;
  for (const Step& step : steps) {
    curve.x.push_back(step.positives / steps.back().positives);
    curve.y.push_back(step.positives / (step.positives + step.negatives));
  }
  return thinned(curve, points);
}

double average_precision(std::span<const double> scores, const std::vector<bool>& labels) {
  const std::vector<Step> steps = steps_down(scores, labels);
  double sum = 0, before = 0;
  for (const Step& step : steps) {
    sum += (step.positives - before) * step.positives / (step.positives + step.negatives);
    before = step.positives;
  }
  return sum / steps.back().positives;
}

PlaneCurve calibration_curve(std::span<const double> scores, const std::vector<bool>& labels, size_t bins) {
  std::vector<size_t> order(scores.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] < scores[b]; });
  PlaneCurve curve;
  size_t bin = 1;
  double sum = 0, positives = 0, count = 0;
  for (size_t k = 0; k < order.size(); ++k) {
    sum += scores[order[k]];
    positives += labels[order[k]] ? 1 : 0;
    count += 1;
    const bool last = k + 1 == order.size();
    if (!last && ((k + 1) * bins < bin * order.size() || scores[order[k + 1]] == scores[order[k]])) continue;
    curve.x.push_back(sum / count);
    curve.y.push_back(positives / count);
    sum = positives = count = 0;
    bin = (k + 1) * bins / order.size() + 1;
  }
  return curve;
}

double brier_score(std::span<const double> scores, const std::vector<bool>& labels) {
  double sum = 0;
  for (size_t k = 0; k < scores.size(); ++k) {
    const double difference = scores[k] - (labels[k] ? 1 : 0);
    sum += difference * difference;
  }
  return sum / static_cast<double>(scores.size());
}

}  // namespace graphpae
