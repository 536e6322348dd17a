// SoftmaxPath: a softmax classifier at its optimum, for one penalty after another: the minimum of
//   mean cross entropy + penalty/2 |W|^2, the bias free,
// over standardised rows (standard_rows.h).
//
// Newton's method, each step by conjugate gradients. Where the rows are few or narrow, the step is found in coordinates
// in which the curvature is nearly the identity (shifted_factor.h), and where they are fewer than wide, in their span:
// W = X^T A with A [n,C], so that all that is needed are the inner products K = X X^T, and a step costs the same
// whatever the width. Same bits for any number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphpae/core/buffer.h"
#include "graphpae/evaluate/shifted_factor.h"
#include "graphpae/evaluate/standard_rows.h"

namespace graphpae {

class SoftmaxPath {
 public:
  // labels [n] in 0 .. classes-1 of the rows x, which must outlive this.
  SoftmaxPath(const StandardRows& x, std::span<const int32_t> labels, int64_t classes);

  // Goes to the optimum from the last one (at first from zero weights). Returns whether it got there: what is left to
  // gain is below 1e-6 of the minimum, or below 1e-3 and float32 shows no smaller value. Throws a numerical error if
  // the loss is not finite.
  bool fit(double penalty);

  LinearScores scores() const;  // for rows as they are given
  double loss() const { return loss_; }
  int64_t products() const { return products_; }  // with the rows, so far

 private:
  // Weights [m,C] with the scores they give the training rows, [n,C] without the bias; m is n if `spanned_`, else D.
  struct Point {
    Buffer<float> weights, image;
    std::vector<double> bias;  // [C]
  };
  Point zero() const;
  void find_image(Point& point);
  void find_chances();  // of the classes, at point_; the loss too
  double loss_at(const Point& step, double length) const;
  void pull(const Buffer<float>& g, double factor, Point& to) const;  // the gradient of g [n,C] on the scores
  double inner(const Point& a, const Point& b) const;                 // of the weights alone; needs the image of b
  double inner_with_bias(const Point& a, const Point& b) const;
  void gradient(Point& to) const;
  void curvature_times(const Point& p, Point& to);  // needs the image of p
  Point search(const Point& gradient);              // the Newton step
  void precondition(Point& point) const;
  void refresh_preconditioner();

  const StandardRows& x_;
  std::vector<int32_t> labels_;
  int64_t n_, classes_;
  bool spanned_ = false;
  Buffer<float> products_of_rows_;  // X X^T / n or X^T X / n, of the dense form
  ShiftedFactor factor_;
  double factored_penalty_ = 0, curvature_ = 1, penalty_ = 0, loss_ = 0;
  Point point_;
  Buffer<float> chances_;       // [n,C]
  mutable Buffer<float> room_;  // [n,C]
  int64_t products_ = 0;
};

}  // namespace graphpae
