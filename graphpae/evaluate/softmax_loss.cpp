#include "graphpae/evaluate/softmax_loss.h"

#include <algorithm>
#include <cmath>

#include "graphpae/core/error.h"

namespace graphpae {
namespace {

constexpr double kGradientShare = 1e-4;  // of the gradient at zero weights: an optimum, whatever the scale of the rows

}  // namespace

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

PenalisedFit::PenalisedFit(const DesignMatrix& x, int64_t classes, std::span<const ProbeProblem> problems,
                           Threads threads)
    : columns_(x.columns()),
      classes_(classes),
      problems_(static_cast<int64_t>(problems.size())),
      loss_(x, classes, problems, threads),
      optima_(problems.size(), std::vector<double>(static_cast<size_t>((columns_ + 1) * classes), 0)),
      options_(problems.size()),
      w_(static_cast<size_t>(columns_ * loss_.width()), 0),
      d_w_(w_.size()),
      bias_(static_cast<size_t>(loss_.width()), 0),
      d_bias_(bias_.size()),
      gradient_(static_cast<size_t>((columns_ + 1) * classes)) {
  loss_.forward(w_.data(), bias_.data());
  loss_.backward(d_w_.data(), d_bias_.data());
  for (int64_t p = 0; p < problems_; ++p) {
    read_gradient(p);
    double largest = 0;
    for (const double value : gradient_) largest = std::max(largest, std::abs(value));
    options_[p].tolerance = kGradientShare * largest;
  }
}

void PenalisedFit::write(int64_t problem, const std::vector<double>& parameters) {
  const int64_t first = problem * classes_;
  for (int64_t d = 0; d < columns_; ++d) {
    for (int64_t c = 0; c < classes_; ++c)
      w_[d * loss_.width() + first + c] = static_cast<float>(parameters[d * classes_ + c]);
  }
  for (int64_t c = 0; c < classes_; ++c) bias_[first + c] = static_cast<float>(parameters[columns_ * classes_ + c]);
}

void PenalisedFit::read_gradient(int64_t problem) {
  const int64_t first = problem * classes_;
  for (int64_t d = 0; d < columns_; ++d) {
    for (int64_t c = 0; c < classes_; ++c) gradient_[d * classes_ + c] = d_w_[d * loss_.width() + first + c];
  }
  for (int64_t c = 0; c < classes_; ++c) gradient_[columns_ * classes_ + c] = d_bias_[first + c];
}

int64_t PenalisedFit::fit(double penalty) {
  std::vector<Lbfgs> searches;
  for (int64_t p = 0; p < problems_; ++p) searches.emplace_back(optima_[p], options_[p]);
  while (!std::all_of(searches.begin(), searches.end(), [](const Lbfgs& search) { return search.done(); })) {
    for (int64_t p = 0; p < problems_; ++p) write(p, searches[p].point());
    loss_.forward(w_.data(), bias_.data());
    loss_.backward(d_w_.data(), d_bias_.data());
    for (int64_t p = 0; p < problems_; ++p) {
      Lbfgs& search = searches[p];
      if (search.done()) continue;
      read_gradient(p);
      double value = loss_.loss(p);
      for (int64_t i = 0; i < columns_ * classes_; ++i) {
        value += penalty / 2 * search.point()[i] * search.point()[i];
        gradient_[i] += penalty * search.point()[i];
      }
      if (!std::isfinite(value) && search.evaluations() == 0) throw numerical_error("probe: the loss is not finite");
      search.tell(value, gradient_);
    }
  }
  int64_t unconverged = 0;
  for (int64_t p = 0; p < problems_; ++p) {
    optima_[p] = searches[p].best();
    write(p, optima_[p]);
    unconverged += !searches[p].converged();
  }
  loss_.forward(w_.data(), bias_.data());
  return unconverged;
}

}  // namespace graphpae
