// LogisticPath: a classifier of two classes at its optimum, for one penalty after another: the minimum of
//   C * sum of the cross entropies + |w|^2 / 2, the bias free,
// over columns that are standardised with mean and deviation of the rows it is fitted on; a column that is the same in
// all of them is divided by 1.
//
// L-BFGS runs in coordinates in which the curvature at the start is the identity (one Cholesky factorisation per
// start), so that it needs a dozen steps where plain L-BFGS needs hundreds. Rows are float32; their products and all
// that follows are float64, except for the curvature, which decides how fast the optimum is found and not where it is.
// One thread; many paths run side by side.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphpae/core/buffer.h"

namespace graphpae {

// Rows of float32, one after the other.
struct RowsView {
  const float* data = nullptr;
  int64_t columns = 0;
  const float* row(int64_t i) const { return data + i * columns; }
};

// For rows as they are given, not standardised: a row x scores weights . x + bias, above 0 for class 1.
struct LinearClassifier {
  std::vector<double> weights;  // [columns]
  double bias = 0;
  double score(const float* row) const;
};

class LogisticPath {
 public:
  // Fitted on the rows `chosen` of x, which need not stay, with labels [chosen] of 0 and 1, of which both must occur.
  LogisticPath(RowsView x, std::span<const int32_t> chosen, std::span<const uint8_t> labels);

  // Goes to the optimum for C from the last one (at first from zero weights). Returns whether it got there: what is
  // left to gain is below 1e-12 of the minimum. Throws a numerical error if the loss is not finite.
  bool fit(double c);

  LinearClassifier classifier() const;
  void start_at(const LinearClassifier& classifier);  // for the next fit

  // Of the standardised columns: weights [columns], then the bias.
  const std::vector<double>& parameters() const { return parameters_; }
  int64_t evaluations() const { return evaluations_; }  // of the loss, so far

 private:
  // The function to minimise at `point`; its gradient goes to gradient_.
  double evaluate(double c, const std::vector<double>& point);
  // The Cholesky factor of its second derivatives where evaluate() was last.
  void factorise_curvature(double c);

  int64_t rows_, columns_;
  Buffer<float> x_;              // [rows,columns] standardised
  std::vector<uint8_t> labels_;  // [rows]
  std::vector<double> mean_, scale_;
  std::vector<double> parameters_, gradient_;
  std::vector<float> weights_;          // [rows] second derivatives of the cross entropies, where evaluate() was last
  Buffer<float> block_, block_square_;  // room for factorise_curvature
  std::vector<double> factor_;          // [columns+1, columns+1] L, lower triangle
  int64_t evaluations_ = 0;
};

}  // namespace graphpae
