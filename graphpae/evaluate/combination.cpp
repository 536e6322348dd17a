#include "graphpae/evaluate/combination.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graphpae/core/error.h"
#include "graphpae/evaluate/protocols.h"

namespace graphpae {
namespace {

constexpr int64_t kMostAdded = 20;

// How well scores tell the classes of rows apart: the metric, then the likelihood, which has no steps.
struct Fit {
  double score = 0, likelihood = 0;
  bool better_than(const Fit& other) const {
    return score != other.score ? score > other.score : likelihood > other.likelihood + 1e-9;
  }
};

Fit fit_of(std::span<const float> sum, double factor, int64_t classes, std::span<const int32_t> labels,
           std::span<const int32_t> ids, NodeMetric metric) {
  Fit fit{node_score(metric, sum, classes, labels, ids), 0};
  for (size_t i = 0; i < ids.size(); ++i) {
    const float* row = sum.data() + static_cast<int64_t>(i) * classes;
    const double top = factor * *std::max_element(row, row + classes);
    double total = 0;
    for (int64_t c = 0; c < classes; ++c) total += std::exp(factor * row[c] - top);
    fit.likelihood += factor * row[labels[ids[i]]] - top - std::log(total);
  }
  fit.likelihood /= static_cast<double>(ids.size());
  return fit;
}

}  // namespace

std::vector<double> choose_weights(std::span<const std::vector<float>* const> members, int64_t classes,
                                   std::span<const int32_t> labels, std::span<const int32_t> ids, NodeMetric metric) {
  if (members.empty()) throw data_error("there are no blocks to combine");
  std::vector<int64_t> times(members.size(), 0);
  std::vector<float> sum(members.front()->size(), 0.0f), trial(sum.size());
  Fit best{-INFINITY, -INFINITY};
  for (int64_t added = 1; added <= kMostAdded; ++added) {
    int64_t chosen = -1;
    for (size_t m = 0; m < members.size(); ++m) {
      for (size_t i = 0; i < sum.size(); ++i) trial[i] = sum[i] + (*members[m])[i];
      const Fit fit = fit_of(trial, 1 / static_cast<double>(added), classes, labels, ids, metric);
      if (!fit.better_than(best)) continue;
      best = fit;
      chosen = static_cast<int64_t>(m);
    }
    if (chosen < 0) break;
    ++times[chosen];
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += (*members[chosen])[i];
  }
  const auto all = static_cast<double>(std::accumulate(times.begin(), times.end(), int64_t{0}));
  std::vector<double> weights;
  for (const int64_t count : times) weights.push_back(static_cast<double>(count) / all);
  return weights;
}

std::vector<float> weighted_sum(std::span<const std::vector<float>* const> members, std::span<const double> weights) {
  std::vector<float> sum(members.front()->size(), 0.0f);
  for (size_t m = 0; m < members.size(); ++m) {
    if (weights[m] == 0) continue;
    for (size_t i = 0; i < sum.size(); ++i) sum[i] += static_cast<float>(weights[m]) * (*members[m])[i];
  }
  return sum;
}

Combination combine(std::span<const TunedEvaluation* const> members, std::span<const int32_t> labels, int64_t classes,
                    const std::vector<Split>& splits, NodeMetric metric) {
  Combination result;
  result.scores.overlap = overlap_of(splits);
  for (size_t s = 0; s < splits.size(); ++s) {
    std::vector<const std::vector<float>*> val, test;
    for (const TunedEvaluation* member : members) {
      val.push_back(&member->predictions.at(s).val);
      test.push_back(&member->predictions.at(s).test);
    }
    result.weights.push_back(choose_weights(val, classes, labels, splits[s].val, metric));
    result.predictions.push_back({weighted_sum(val, result.weights.back()), weighted_sum(test, result.weights.back())});
    add_predictions(result.scores, result.predictions.back(), splits[s], labels, classes, metric);
  }
  return result;
}

}  // namespace graphpae
