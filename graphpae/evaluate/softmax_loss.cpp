#include "graphpae/evaluate/softmax_loss.h"

#include <algorithm>
#include <cmath>

namespace graphpae {

SoftmaxLoss::SoftmaxLoss(const DesignMatrix& x, int64_t classes, std::span<const ProbeProblem> problems,
                         Threads threads)
    : x_(x),
      classes_(classes),
      problems_(static_cast<int64_t>(problems.size())),
      width_(problems_ * classes),
      threads_(threads),
      labels_(static_cast<size_t>(x.rows() * problems_), -1),
      logits_(static_cast<size_t>(x.rows() * width_)),
      g_(static_cast<size_t>(x.rows() * width_), 0),
      predictions_(static_cast<size_t>(x.rows() * problems_)),
      losses_(static_cast<size_t>(problems_)) {
  for (int64_t p = 0; p < problems_; ++p) {
    const ProbeProblem& problem = problems[p];
    for (size_t i = 0; i < problem.rows.size(); ++i) {
      labels_[problem.rows[i] * problems_ + p] = problem.labels[i];
      used_ = std::max<int64_t>(used_, problem.rows[i] + 1);
    }
    scale_.push_back(1.0f / static_cast<float>(problem.rows.size()));
  }
  row_losses_.resize(static_cast<size_t>(used_ * problems_));
}

void SoftmaxLoss::forward(const float* w, const float* bias) {
  x_.forward(w, bias, width_, logits_.data());
  const int64_t rows = x_.rows();
#pragma omp parallel for schedule(static) num_threads(threads_.count)
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t p = 0; p < problems_; ++p) {
      const float* z = logits_.data() + i * width_ + p * classes_;
      predictions_[p * rows + i] = static_cast<int32_t>(std::max_element(z, z + classes_) - z);
    }
  }
}

void SoftmaxLoss::backward(float* d_w, float* d_bias) {
#pragma omp parallel for schedule(static) num_threads(threads_.count)
  for (int64_t i = 0; i < used_; ++i) {
    for (int64_t p = 0; p < problems_; ++p) {
      const int32_t label = labels_[i * problems_ + p];
      row_losses_[i * problems_ + p] = 0;
      if (label < 0) continue;
      const float* z = logits_.data() + i * width_ + p * classes_;
      float* g = g_.data() + i * width_ + p * classes_;
      const float top = *std::max_element(z, z + classes_);
      float sum = 0;
      for (int64_t c = 0; c < classes_; ++c) sum += g[c] = std::exp(z[c] - top);
      for (int64_t c = 0; c < classes_; ++c) g[c] *= scale_[p] / sum;
      g[label] -= scale_[p];
      row_losses_[i * problems_ + p] = std::log(sum) + top - z[label];
    }
  }
  x_.backward(g_.data(), width_, used_, d_w);
  std::vector<double> d_sum(static_cast<size_t>(width_), 0);
  std::fill(losses_.begin(), losses_.end(), 0);
  for (int64_t i = 0; i < used_; ++i) {
    for (int64_t j = 0; j < width_; ++j) d_sum[j] += g_[i * width_ + j];
    for (int64_t p = 0; p < problems_; ++p) losses_[p] += row_losses_[i * problems_ + p];
  }
  std::copy(d_sum.begin(), d_sum.end(), d_bias);
  for (int64_t p = 0; p < problems_; ++p) losses_[p] *= scale_[p];
}

}  // namespace graphpae
