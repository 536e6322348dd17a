#include "graphpae/evaluate/logistic_path.h"

#define EIGEN_DONT_PARALLELIZE  // many paths run side by side
#include <Eigen/Cholesky>
#include <algorithm>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/evaluate/lbfgs.h"
#include "graphpae/kernels/dense_product.h"
#include "graphpae/kernels/float64_kernels.h"

namespace graphpae {
namespace {

constexpr double kGap = 1e-12;         // what may be left to gain, of the minimum
constexpr int64_t kBlock = 64;         // rows that stay in the cache between the two products of an evaluation
constexpr int64_t kSummedRows = 384;   // rows whose products are summed in float32
constexpr int64_t kRestart = 30;       // evaluations that cost as much as the curvature at a new place
constexpr int64_t kMostRestarts = 20;  // two or three do

using Matrix = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using MatrixMap = Eigen::Map<Matrix>;
using VectorMap = Eigen::Map<Eigen::VectorXd>;

VectorMap as_vector(std::vector<double>& values) { return {values.data(), static_cast<Eigen::Index>(values.size())}; }

}  // namespace

double LinearClassifier::score(const float* row) const {
  double sum = bias;
  for (size_t d = 0; d < weights.size(); ++d) sum += weights[d] * row[d];
  return sum;
}

LogisticPath::LogisticPath(RowsView x, std::span<const int32_t> chosen, std::span<const uint8_t> labels)
    : rows_(static_cast<int64_t>(chosen.size())),
      columns_(x.columns),
      x_(static_cast<size_t>(rows_ * columns_)),
      labels_(labels.begin(), labels.end()),
      mean_(static_cast<size_t>(columns_), 0),
      scale_(static_cast<size_t>(columns_), 0),
      parameters_(static_cast<size_t>(columns_ + 1), 0),
      gradient_(static_cast<size_t>(columns_ + 1)),
      weights_(static_cast<size_t>(rows_)),
      block_(static_cast<size_t>(kSummedRows * columns_)),
      block_square_(static_cast<size_t>(columns_ * columns_)) {
  const auto count = static_cast<double>(rows_);
  const float* first = x.row(chosen[0]);
  // Relative to the first row, a column that never changes has exactly its value as mean and no deviation.
  for (const int32_t id : chosen) {
    for (int64_t d = 0; d < columns_; ++d) mean_[d] += static_cast<double>(x.row(id)[d]) - first[d];
  }
  for (int64_t d = 0; d < columns_; ++d) mean_[d] = first[d] + mean_[d] / count;
  for (const int32_t id : chosen) {
    for (int64_t d = 0; d < columns_; ++d) scale_[d] += (x.row(id)[d] - mean_[d]) * (x.row(id)[d] - mean_[d]);
  }
  for (double& scale : scale_) scale = scale > 0 ? std::sqrt(scale / count) : 1;
  for (int64_t i = 0; i < rows_; ++i) {
    const float* row = x.row(chosen[i]);
    for (int64_t d = 0; d < columns_; ++d) x_[i * columns_ + d] = static_cast<float>((row[d] - mean_[d]) / scale_[d]);
  }
  const auto ones = static_cast<double>(std::count(labels.begin(), labels.end(), 1));
  parameters_.back() = std::log(ones / (count - ones));  // the optimum without weights
}

double LogisticPath::evaluate(double c, const std::vector<double>& point) {
  ++evaluations_;
  double z[kBlock], g[kBlock];
  double loss = 0, square = 0;
  std::fill(gradient_.begin(), gradient_.end(), 0);
  for (int64_t begin = 0; begin < rows_; begin += kBlock) {
    const int64_t count = std::min(kBlock, rows_ - begin);
    const float* x = x_.data() + begin * columns_;
    kernels::exact_product(x, point.data(), count, columns_, z);
    for (int64_t i = 0; i < count; ++i) {
      const double logit = z[i] + point.back();
      const bool one = labels_[begin + i] != 0;
      // The chances of the class that is likelier and of the other one, which keeps its digits.
      const double tail = std::exp(-std::abs(logit));
      const double likely = 1 / (1 + tail), unlikely = tail / (1 + tail);
      const bool right = (logit > 0) == one;
      g[i] = (right ? unlikely : likely) * (one ? -c : c);
      weights_[begin + i] = static_cast<float>(likely * unlikely);
      loss += std::log1p(tail) + (right ? 0 : std::abs(logit));
      gradient_.back() += g[i];
    }
    kernels::add_exact_gradient(x, g, count, columns_, gradient_.data());
  }
  for (int64_t d = 0; d < columns_; ++d) {
    square += point[d] * point[d];
    gradient_[d] += point[d];
  }
  return c * loss + square / 2;
}

void LogisticPath::factorise_curvature(double c) {
  const int64_t n = columns_ + 1;
  std::vector<double> h(static_cast<size_t>(n * n), 0);
  double* of_bias = h.data() + columns_ * n;  // the last row
  for (int64_t begin = 0; begin < rows_; begin += kSummedRows) {
    const int64_t count = std::min(kSummedRows, rows_ - begin);
    for (int64_t i = 0; i < count; ++i) {
      const float weight = weights_[begin + i], root = std::sqrt(weight);
      const float* row = x_.data() + (begin + i) * columns_;
      float* scaled = block_.data() + i * columns_;
      for (int64_t d = 0; d < columns_; ++d) {
        scaled[d] = root * row[d];
        of_bias[d] += c * weight * row[d];
      }
      of_bias[columns_] += c * weight;
    }
    kernels::symmetric_product(kernels::transposed(block_.data(), columns_), kernels::plain(block_.data(), columns_),
                               columns_, count, block_square_.data(), columns_, Threads{});
    for (int64_t d = 0; d < columns_; ++d) {
      for (int64_t e = 0; e <= d; ++e) h[d * n + e] += c * block_square_[d * columns_ + e];
    }
  }
  double largest = 0;
  for (int64_t d = 0; d < columns_; ++d) h[d * n + d] += 1;
  for (int64_t d = 0; d < n; ++d) largest = std::max(largest, h[d * n + d]);
  // Rounding can make the matrix indefinite; with something added it is still a good choice of coordinates.
  double added = 1e-14 * largest;
  for (;; added *= 100) {
    factor_ = h;
    for (int64_t d = 0; d < n; ++d) factor_[d * n + d] += added;
    MatrixMap in_place(factor_.data(), n, n);
    if (Eigen::LLT<Eigen::Ref<Matrix>>(in_place).info() == Eigen::Success) return;
    if (!(added < largest)) throw numerical_error("probe: the curvature of the loss is not finite");
  }
}

bool LogisticPath::fit(double c) {
  for (int64_t restart = 0; restart < kMostRestarts; ++restart) {
    double value = evaluate(c, parameters_);
    if (!std::isfinite(value)) throw numerical_error("probe: the loss is not finite");
    factorise_curvature(c);
    // With second derivatives L L^T the search runs in L^T parameters.
    const MatrixMap factor(factor_.data(), columns_ + 1, columns_ + 1);
    const auto lower = factor.triangularView<Eigen::Lower>();
    std::vector<double> point(parameters_.size());
    as_vector(point).noalias() = lower.transpose() * as_vector(parameters_);
    Lbfgs search(std::move(point), {.memory = kRestart, .max_evaluations = kRestart, .tolerance = 0, .first_step = 1});
    while (true) {
      lower.solveInPlace(as_vector(gradient_));
      double square = 0;
      for (const double g : gradient_) square += g * g;
      // In these coordinates a Newton step gains half the square of the gradient.
      if (square / 2 <= kGap * value) return true;
      search.tell(value, gradient_);
      if (search.done()) break;
      parameters_ = search.point();
      lower.transpose().solveInPlace(as_vector(parameters_));
      value = evaluate(c, parameters_);
    }
    parameters_ = search.best();
    lower.transpose().solveInPlace(as_vector(parameters_));
  }
  return false;
}

LinearClassifier LogisticPath::classifier() const {
  LinearClassifier result{std::vector<double>(static_cast<size_t>(columns_)), parameters_.back()};
  for (int64_t d = 0; d < columns_; ++d) {
    result.weights[d] = parameters_[d] / scale_[d];
    result.bias -= mean_[d] * result.weights[d];
  }
  return result;
}

void LogisticPath::start_at(const LinearClassifier& classifier) {
  parameters_.back() = classifier.bias;
  for (int64_t d = 0; d < columns_; ++d) {
    parameters_[d] = classifier.weights[d] * scale_[d];
    parameters_.back() += mean_[d] * classifier.weights[d];
  }
}

}  // namespace graphpae
