#include "graphpae/evaluate/lbfgs.h"

#include <algorithm>
#include <cmath>

namespace graphpae {
namespace {

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
  return sum;
}

double largest(std::span<const double> values) {
  double result = 0;
  for (const double value : values) result = std::max(result, std::abs(value));
  return result;
}

constexpr double kDecrease = 1e-4;   // of the slope, that a step must gain
constexpr double kShortest = 1e-10;  // a search that gets here cannot see a decrease through rounding

}  // namespace

Lbfgs::Lbfgs(std::vector<double> start, const LbfgsOptions& options) : options_(options), trial_(std::move(start)) {}

void Lbfgs::start_search() {
  // The two loops over the pairs: direction = -H gradient.
  direction_ = gradient_;
  std::vector<double> weights(pairs_.size());
  for (size_t k = pairs_.size(); k-- > 0;) {
    weights[k] = dot(pairs_[k].step, direction_) / pairs_[k].curvature;
    for (size_t i = 0; i < direction_.size(); ++i) direction_[i] -= weights[k] * pairs_[k].change[i];
  }
  if (!pairs_.empty()) {
    const Pair& last = pairs_.back();
    const double scale = last.curvature / dot(last.change, last.change);
    for (double& value : direction_) value *= scale;
  }
  for (size_t k = 0; k < pairs_.size(); ++k) {
    const double weight = weights[k] - dot(pairs_[k].change, direction_) / pairs_[k].curvature;
    for (size_t i = 0; i < direction_.size(); ++i) direction_[i] += weight * pairs_[k].step[i];
  }
  for (double& value : direction_) value = -value;
  slope_ = dot(direction_, gradient_);
  length_ = 1;
  if (pairs_.empty()) {  // no curvature is known
    const double size = std::sqrt(std::max(dot(gradient_, gradient_), 1e-300));
    length_ = options_.first_step > 0 ? options_.first_step : 1 / size;
  }
  trial_ = x_;
  for (size_t i = 0; i < x_.size(); ++i) trial_[i] += length_ * direction_[i];
}

void Lbfgs::tell(double value, std::span<const double> gradient) {
  const bool first = evaluations_++ == 0;
  if (!first && !(value <= value_ + kDecrease * length_ * slope_)) {
    length_ /= 2;
    if (length_ < kShortest) {
      if (pairs_.empty()) {
        done_ = converged_ = true;
        return;
      }
      pairs_.clear();  // once more along the gradient itself
      start_search();
    }
    for (size_t i = 0; i < x_.size(); ++i) trial_[i] = x_[i] + length_ * direction_[i];
    done_ = evaluations_ >= options_.max_evaluations;
    return;
  }
  if (!first) {
    Pair pair{std::vector<double>(x_.size()), std::vector<double>(x_.size()), 0};
    for (size_t i = 0; i < x_.size(); ++i) {
      pair.step[i] = trial_[i] - x_[i];
      pair.change[i] = gradient[i] - gradient_[i];
    }
    pair.curvature = dot(pair.step, pair.change);
    // Rounding can hide the curvature of a convex function: such pairs are left out.
    if (pair.curvature > 1e-12 * dot(pair.change, pair.change)) pairs_.push_back(std::move(pair));
    if (static_cast<int64_t>(pairs_.size()) > options_.memory) pairs_.pop_front();
  }
  x_ = trial_;
  value_ = value;
  gradient_.assign(gradient.begin(), gradient.end());
  converged_ = largest(gradient) <= options_.tolerance;
  done_ = converged_ || evaluations_ >= options_.max_evaluations;
  if (!done_) start_search();
}

}  // namespace graphpae
