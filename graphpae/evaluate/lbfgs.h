// Lbfgs: minimises a smooth convex function by limited-memory BFGS. The caller evaluates the function: it asks for
// point(), tells value and gradient there, and so on until done(). Many minimisations can thus share their evaluations.
#pragma once

#include <cstdint>
#include <deque>
#include <span>
#include <vector>

namespace graphpae {

struct LbfgsOptions {
  int64_t memory = 10;  // pairs of steps and gradient changes kept
  int64_t max_evaluations = 2000;
  double tolerance = 1e-6;  // of the largest gradient entry
  double first_step = 0;    // in multiples of the gradient; 0: a step of length one
};

class Lbfgs {
 public:
  explicit Lbfgs(std::vector<double> start, const LbfgsOptions& options = {});

  const std::vector<double>& point() const { return trial_; }
  // value and gradient [n] at point().
  void tell(double value, std::span<const double> gradient);

  bool done() const { return done_; }
  bool converged() const { return converged_; }  // the gradient is small, or no step makes the value smaller
  const std::vector<double>& best() const { return x_; }
  int64_t evaluations() const { return evaluations_; }

 private:
  struct Pair {
    std::vector<double> step, change;  // s and y
    double curvature;                  // s.y
  };
  void start_search();  // a new direction and the first trial point along it

  LbfgsOptions options_;
  std::vector<double> x_, gradient_, direction_, trial_;
  std::deque<Pair> pairs_;
  double value_ = 0, slope_ = 0, length_ = 1;
  int64_t evaluations_ = 0;
  bool done_ = false, converged_ = false;
};

}  // namespace graphpae
