#include "graphpae/evaluate/kernel_ridge.h"

#include <algorithm>
#include <utility>

#include "graphpae/core/error.h"
#include "graphpae/kernels/dense_product.h"

namespace graphpae {
namespace {

constexpr double kWellConditioned = 0.02;  // a penalty, below which a solution in float32 is refined once

}  // namespace

KernelRidge::KernelRidge(Buffer<float> k, int64_t n, Threads threads) : n_(n), threads_(threads), k_(std::move(k)) {
  if (n_ == 0) throw data_error("no labelled training rows");
  means_.assign(static_cast<size_t>(n_), 0);
  for (int64_t i = 0; i < n_; ++i) {
    for (int64_t j = 0; j < n_; ++j) means_[j] += static_cast<double>(k_[i * n_ + j]) / static_cast<double>(n_);
  }
  for (const double mean : means_) mean_ += mean / static_cast<double>(n_);
  double trace = 0;
  for (int64_t i = 0; i < n_; ++i) {
    for (int64_t j = 0; j < n_; ++j)
      k_[i * n_ + j] = static_cast<float>(k_[i * n_ + j] - means_[i] - means_[j] + mean_);
    trace += k_[i * n_ + i];
  }
  length_ = trace > 0 ? trace / static_cast<double>(n_) : 1;
}

std::vector<KernelRidge::Weights> KernelRidge::solve(std::span<const double> targets, int64_t outputs,
                                                     std::span<const double> penalties) const {
  std::vector<double> mean(static_cast<size_t>(outputs), 0);
  for (int64_t i = 0; i < n_; ++i) {
    for (int64_t t = 0; t < outputs; ++t) mean[t] += targets[i * outputs + t] / static_cast<double>(n_);
  }
  std::vector<double> wanted(targets.begin(), targets.end());
  for (int64_t i = 0; i < n_; ++i) {
    for (int64_t t = 0; t < outputs; ++t) wanted[i * outputs + t] -= mean[t];
  }
  std::vector<Weights> path;
  ShiftedFactor factor;
  for (const double penalty : penalties) {
    const double shift = penalty * length_;
    factor.factorise(k_, n_, 1.0, shift, threads_);
    Weights weights{mean, Buffer<float>(wanted.size())};
    for (size_t i = 0; i < wanted.size(); ++i) weights.values[i] = static_cast<float>(wanted[i]);
    factor.solve(weights.values.data(), outputs, threads_);
    if (penalty < kWellConditioned) {
      Buffer<float> left(wanted.size());
      const int64_t groups = (n_ + 63) / 64;
      parallel_tasks(threads_, groups, [&](int64_t group) {
        std::vector<double> sums(static_cast<size_t>(outputs));
        for (int64_t i = group * 64; i < std::min(n_, (group + 1) * 64); ++i) {
          std::fill(sums.begin(), sums.end(), 0.0);
          for (int64_t j = 0; j < n_; ++j) {
            const double k = k_[i * n_ + j];
            for (int64_t t = 0; t < outputs; ++t) sums[t] += k * weights.values[j * outputs + t];
          }
          for (int64_t t = 0; t < outputs; ++t) {
            const int64_t at = i * outputs + t;
            left[at] = static_cast<float>(wanted[at] - sums[t] - shift * weights.values[at]);
          }
        }
      });
      factor.solve(left.data(), outputs, threads_);
      for (size_t i = 0; i < left.size(); ++i) weights.values[i] += left[i];
    }
    path.push_back(std::move(weights));
  }
  return path;
}

void KernelRidge::centre(Buffer<float>& k, int64_t m) const {
  for (int64_t i = 0; i < m; ++i) {
    double mean = 0;
    for (int64_t j = 0; j < n_; ++j) mean += static_cast<double>(k[i * n_ + j]) / static_cast<double>(n_);
    for (int64_t j = 0; j < n_; ++j) k[i * n_ + j] = static_cast<float>(k[i * n_ + j] - mean - means_[j] + mean_);
  }
}

std::vector<float> KernelRidge::predict(const Buffer<float>& centred, int64_t m, const Weights& weights) const {
  const int64_t outputs = weights.outputs();
  std::vector<float> out(static_cast<size_t>(m * outputs));
  kernels::dense_product(kernels::plain(centred.data(), n_), kernels::plain(weights.values.data(), outputs), m, outputs,
                         n_, out.data(), outputs, {}, threads_);
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t t = 0; t < outputs; ++t) out[i * outputs + t] += static_cast<float>(weights.mean[t]);
  }
  return out;
}

}  // namespace graphpae
