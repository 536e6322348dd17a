#include "graphpae/evaluate/ridge_path.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

namespace graphpae {
namespace {

// The columns `places` of k [rows,n]; of the rows those too if `both`.
Buffer<float> chosen_part(const Buffer<float>& k, int64_t rows, int64_t n, const std::vector<int64_t>& places,
                          bool both) {
  const int64_t count = both ? std::ssize(places) : rows;
  Buffer<float> part(static_cast<size_t>(count) * places.size());
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = both ? places[i] : i;
    for (size_t j = 0; j < places.size(); ++j) part[i * places.size() + j] = k[row * n + places[j]];
  }
  return part;
}

std::vector<double> mean_targets(const LearningTask& task, std::span<const int32_t> fitted) {
  std::vector<double> mean(static_cast<size_t>(task.outputs), 0);
  for (int64_t t = 0; t < task.outputs; ++t) {
    double count = 0;
    for (const int32_t id : fitted) {
      if (!task.has(id, t)) continue;
      mean[t] += task.targets[id * task.outputs + t];
      ++count;
    }
    mean[t] /= std::max(count, 1.0);
  }
  return mean;
}

}  // namespace

RidgePath::RidgePath(Buffer<float> k, std::span<const int32_t> fitted, const LearningTask& task,
                     std::span<const double> penalties, Threads threads, bool fill)
    : n_(std::ssize(fitted)), outputs_(task.outputs), penalties_(std::ssize(penalties)) {
  const std::vector<double> mean = mean_targets(task, fitted);
  std::map<std::vector<int64_t>, std::vector<int64_t>> outputs_of;  // by the places that have targets
  for (int64_t t = 0; t < outputs_; ++t) {
    std::vector<int64_t> places;
    for (int64_t i = 0; i < n_; ++i) {
      if (fill || task.has(fitted[i], t)) places.push_back(i);
    }
    if (!places.empty()) outputs_of[places].push_back(t);
  }
  const bool one = outputs_of.size() == 1;
  for (const auto& [places, outputs] : outputs_of) {
    std::vector<double> targets;
    for (const int64_t place : places) {
      for (const int64_t t : outputs) {
        const double target = task.targets[fitted[place] * outputs_ + t];
        targets.push_back(std::isnan(target) ? mean[t] : target);
      }
    }
    const bool all = std::ssize(places) == n_;
    KernelRidge ridge(all && one ? std::move(k) : chosen_part(k, n_, n_, places, true), std::ssize(places), threads);
    auto path = ridge.solve(targets, std::ssize(outputs), penalties);
    ridge.forget_products();
    groups_.push_back({places, outputs, std::move(ridge), std::move(path)});
    if (one) break;
  }
}

std::vector<std::vector<float>> RidgePath::predict(const Buffer<float>& similarities, int64_t m) const {
  std::vector<std::vector<float>> predictions(static_cast<size_t>(penalties_),
                                              std::vector<float>(static_cast<size_t>(m * outputs_), 0.0f));
  for (const Group& group : groups_) {
    Buffer<float> others =
        std::ssize(group.places) == n_ ? similarities : chosen_part(similarities, m, n_, group.places, false);
    group.ridge.centre(others, m);
    const int64_t width = std::ssize(group.outputs);
    for (int64_t p = 0; p < penalties_; ++p) {
      const std::vector<float> part = group.ridge.predict(others, m, group.path[p]);
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t w = 0; w < width; ++w) predictions[p][i * outputs_ + group.outputs[w]] = part[i * width + w];
      }
    }
  }
  return predictions;
}

}  // namespace graphpae
