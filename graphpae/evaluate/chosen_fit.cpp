#include "graphpae/evaluate/chosen_fit.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "graphpae/evaluate/ridge_path.h"

namespace graphpae {
namespace {

constexpr size_t kMostValues = size_t{1} << 26;  // similarities in memory together, beside those of training rows

// The place of the least value of a function with one valley, by golden sections.
double lowest(const std::function<double(double)>& f, double low, double high) {
  const double ratio = (std::sqrt(5.0) - 1) / 2;
  double a = high - ratio * (high - low), b = low + ratio * (high - low), fa = f(a), fb = f(b);
  for (int64_t step = 0; step < 60; ++step) {
    if (fa <= fb) {
      high = b;
      b = a;
      fb = fa;
      a = high - ratio * (high - low);
      fa = f(a);
    } else {
      low = a;
      a = b;
      fa = fb;
      b = low + ratio * (high - low);
      fb = f(b);
    }
  }
  return (low + high) / 2;
}

void soften(std::span<float> row, double slope) {
  const double top = *std::max_element(row.begin(), row.end());
  double sum = 0;
  for (float& v : row) {
    v = static_cast<float>(std::exp(slope * (v - top)));
    sum += v;
  }
  for (float& v : row) v = static_cast<float>(v / sum);
}

double logistic(double x) { return 1 / (1 + std::exp(-x)); }

double class_slope(const LearningTask& task, std::span<const int32_t> ids, std::span<const float> outputs) {
  const int64_t c = task.outputs;
  const auto loss = [&](double log_slope) {
    double sum = 0;
    std::vector<float> row(static_cast<size_t>(c));
    for (size_t i = 0; i < ids.size(); ++i) {
      if (task.labels[ids[i]] < 0) continue;
      std::copy_n(outputs.begin() + i * c, c, row.begin());
      soften(row, std::exp(log_slope));
      sum -= std::log(std::max(1e-12, static_cast<double>(row[task.labels[ids[i]]])));
    }
    return sum;
  };
  return std::exp(lowest(loss, -2, 5));
}

// By Newton's method, with a little pull of the slope towards 4, which fits outputs that are probabilities already.
std::pair<double, double> logistic_line(const LearningTask& task, int64_t t, std::span<const int32_t> ids,
                                        std::span<const float> outputs) {
  constexpr double kPull = 1e-2, kSlope = 4;
  double slope = kSlope, offset = -kSlope / 2;
  for (int64_t step = 0; step < 30; ++step) {
    double g0 = kPull * (slope - kSlope), g1 = 0, h00 = kPull, h01 = 0, h11 = 1e-6;
    for (size_t i = 0; i < ids.size(); ++i) {
      if (!task.has(ids[i], t)) continue;
      const double x = outputs[i * task.outputs + t], p = logistic(slope * x + offset), w = p * (1 - p);
      const double error = p - task.targets[ids[i] * task.outputs + t];
      g0 += error * x;
      g1 += error;
      h00 += w * x * x;
      h01 += w * x;
      h11 += w;
    }
    const double det = h00 * h11 - h01 * h01;
    if (!(det > 1e-12)) break;
    slope -= std::clamp((h11 * g0 - h01 * g1) / det, -4.0, 4.0);
    offset -= std::clamp((h00 * g1 - h01 * g0) / det, -4.0, 4.0);
  }
  return {std::clamp(slope, 0.0, 100.0), std::clamp(offset, -100.0, 100.0)};
}

std::vector<std::vector<float>> fitted_path(const KernelSum& sum, const KernelList& kernels, const LearningTask& task,
                                            std::span<const int32_t> train, std::span<const int32_t> asked,
                                            std::span<const double> penalties, const FitOptions& options) {
  const std::vector<int32_t> fitted = draw_rows(known_rows(task, train), options.most_rows, options.seed + 2);
  const RidgePath ridges(between(sum, kernels, fitted, fitted, options.threads), fitted, task, penalties,
                         options.threads);
  std::vector<std::vector<float>> path(penalties.size());
  const auto at_once = std::max<size_t>(1, kMostValues / std::max<size_t>(1, fitted.size()));
  for (size_t first = 0; first < asked.size(); first += at_once) {
    const auto some = asked.subspan(first, std::min(at_once, asked.size() - first));
    const auto parts = ridges.predict(between(sum, kernels, some, fitted, options.threads), std::ssize(some));
    for (size_t p = 0; p < path.size(); ++p) path[p].insert(path[p].end(), parts[p].begin(), parts[p].end());
  }
  return path;
}

}  // namespace

void Calibration::apply(const LearningTask& task, std::span<float> outputs) const {
  if (task.metric == TaskMetric::rmse) return;
  const int64_t t = task.outputs;
  for (size_t i = 0; i * t < outputs.size(); ++i) {
    const std::span<float> row = outputs.subspan(i * t, t);
    if (task.classes) {
      soften(row, slopes.front());
      continue;
    }
    for (int64_t k = 0; k < t; ++k) row[k] = static_cast<float>(logistic(slopes[k] * row[k] + offsets[k]));
  }
}

Calibration calibrate(const LearningTask& task, std::span<const int32_t> ids, std::span<const float> outputs) {
  if (task.metric == TaskMetric::rmse) return {};
  if (task.classes) return {{class_slope(task, ids, outputs)}, {0}};
  Calibration calibration;
  for (int64_t t = 0; t < task.outputs; ++t) {
    const auto [slope, offset] = logistic_line(task, t, ids, outputs);
    calibration.slopes.push_back(slope);
    calibration.offsets.push_back(offset);
  }
  return calibration;
}

FittedChoice fit_choice(const KernelSum& sum, int64_t penalty, const KernelList& kernels, const LearningTask& task,
                        const Split& split, std::span<const int32_t> asked, const FitOptions& options) {
  const std::vector<int32_t> val = known_rows(task, split.val);
  std::vector<int32_t> rows = val;
  rows.insert(rows.end(), asked.begin(), asked.end());
  const int64_t around = options.penalty_by_val ? 2 : 0;
  std::vector<double> penalties;
  const int64_t first = std::max<int64_t>(0, penalty - around), last = std::min(kRidgePenalties, penalty + around + 1);
  for (int64_t c = first; c < last; ++c) penalties.push_back(ridge_penalty(c));
  const auto path = fitted_path(sum, kernels, task, split.train, rows, penalties, options);
  FittedChoice result;
  size_t best = 0;
  for (size_t p = 0; p < path.size(); ++p) {
    const auto score = task.score(val, {path[p].data(), val.size() * static_cast<size_t>(task.outputs)});
    if (p > 0 && !(score > result.validation)) continue;
    best = p;
    result.validation = score;
  }
  result.penalty = first + static_cast<int64_t>(best);
  const size_t of_val = val.size() * static_cast<size_t>(task.outputs);
  result.calibration = calibrate(task, val, {path[best].data(), of_val});
  result.asked.assign(path[best].begin() + static_cast<int64_t>(of_val), path[best].end());
  return result;
}

std::vector<float> fit_rows(const KernelSum& sum, int64_t penalty, const KernelList& kernels, const LearningTask& task,
                            std::span<const int32_t> train, std::span<const int32_t> asked, const FitOptions& options) {
  const std::vector<double> penalties = {ridge_penalty(penalty)};
  return fitted_path(sum, kernels, task, train, asked, penalties, options).front();
}

}  // namespace graphpae
