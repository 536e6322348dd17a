// PenalisedFit: softmax classifiers at their optimum, many problems at once: the minimum of
//   mean cross entropy + penalty/2 |W|^2, the bias free.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphpae/evaluate/lbfgs.h"
#include "graphpae/evaluate/softmax_loss.h"

namespace graphpae {

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
