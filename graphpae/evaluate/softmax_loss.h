// The loss of many softmax classifiers over the same rows: the mean cross entropy of each problem over its own rows;
// and their optima.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphpae/evaluate/lbfgs.h"
#include "graphpae/evaluate/probe.h"

namespace graphpae {

// Problems stand side by side: problem p owns the columns p*C .. p*C+C-1 of weights and logits.
class SoftmaxLoss {
 public:
  // Refers to x, which must outlive it.
  SoftmaxLoss(const DesignMatrix& x, int64_t classes, std::span<const ProbeProblem> problems, Threads threads);

  int64_t width() const { return width_; }  // problems * classes

  // logits_ = X w + bias, and the predicted classes. w [D,width], bias [width]
  void forward(const float* w, const float* bias);
  std::span<const int32_t> predictions() const { return predictions_; }  // [problems, rows]
  double loss(int64_t problem) const { return losses_[problem]; }        // of the last backward()

  // Gradients at the weights of the last forward(): d_w [D,width], d_bias [width].
  void backward(float* d_w, float* d_bias);

 private:
  const DesignMatrix& x_;
  int64_t classes_, problems_, width_;
  Threads threads_;
  int64_t used_ = 0;  // rows after these belong to no problem
  // The rows of each problem and their classes, as a matrix: labels_[row * problems + p], -1 if the row is not p's.
  std::vector<int32_t> labels_;
  std::vector<float> scale_;  // [problems] 1 / number of rows
  Buffer<float> logits_;      // [rows,width]
  std::vector<float> g_;      // [rows,width] gradient of the logits, zero where a row is not its problem's
  Buffer<float> row_losses_;  // [used,problems]
  std::vector<int32_t> predictions_;
  std::vector<double> losses_;
};

// Softmax classifiers at their optimum, many problems at once: the minimum of
//   mean cross entropy + penalty/2 |W|^2, the bias free.
class PenalisedFit {
 public:
  // Refers to x, which must outlive it.
  PenalisedFit(const DesignMatrix& x, int64_t classes, std::span<const ProbeProblem> problems, Threads threads);

  // Fits all problems, starting at the optimum of the last call (at first: zero). Returns how many did not converge:
  // the gradient is not yet 1e-4 of that at zero. Throws a numerical error if a loss is not finite.
  int64_t fit(double penalty);

  std::span<const int32_t> predictions() const { return loss_.predictions(); }  // [problems, rows of X]
  // Weights [D,C], then bias [C].
  const std::vector<double>& parameters(int64_t problem) const { return optima_[problem]; }

 private:
  void write(int64_t problem, const std::vector<double>& parameters);  // to the problem's columns
  void read_gradient(int64_t problem);                                 // from them

  int64_t columns_, classes_, problems_;
  SoftmaxLoss loss_;
  std::vector<std::vector<double>> optima_;
  std::vector<LbfgsOptions> options_;
  std::vector<float> w_, d_w_, bias_, d_bias_;  // of all problems side by side
  std::vector<double> gradient_;                // of one problem
};

}  // namespace graphpae
