#include "graphpae/evaluate/softmax_path.h"

#include <algorithm>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/kernels/dense_product.h"

namespace graphpae {
namespace {

constexpr double kLeftToGain = 1e-6;    // of the minimum
constexpr double kResidual = 1e-2;      // squared, of conjugate gradients, of that at their start
constexpr double kSmallestBend = 1e-3;  // of the cross entropy, as the preconditioner sees it
constexpr double kRefactored = 0.25;    // penalties may fall so far before the preconditioner follows
constexpr int64_t kMostSteps = 500;     // five to ten do
constexpr int64_t kMostInnerSteps = 1000;

double dot_of(const Buffer<float>& a, const Buffer<float>& b) {
  // Four sums, so that one addition need not wait for the last.
  double sums[4] = {0, 0, 0, 0};
  const size_t whole = a.size() / 4 * 4;
  for (size_t i = 0; i < whole; i += 4) {
    for (size_t k = 0; k < 4; ++k) sums[k] += static_cast<double>(a[i + k]) * b[i + k];
  }
  for (size_t i = whole; i < a.size(); ++i) sums[0] += static_cast<double>(a[i]) * b[i];
  return (sums[0] + sums[1]) + (sums[2] + sums[3]);
}

void add_times(Buffer<float>& to, double factor, const Buffer<float>& from) {
  const auto f = static_cast<float>(factor);
  for (size_t i = 0; i < to.size(); ++i) to[i] += f * from[i];
}

// to = from + factor * to
void scale_and_add(Buffer<float>& to, double factor, const Buffer<float>& from) {
  const auto f = static_cast<float>(factor);
  for (size_t i = 0; i < to.size(); ++i) to[i] = from[i] + f * to[i];
}

}  // namespace

SoftmaxPath::SoftmaxPath(const StandardRows& x, std::span<const int32_t> labels, int64_t classes)
    : x_(x), labels_(labels.begin(), labels.end()), n_(x.rows()), classes_(classes) {
  if (x_.is_dense()) {
    spanned_ = n_ < x_.columns();
    products_of_rows_ = spanned_ ? x_.row_products() : x_.column_products();
  }
  point_ = zero();
  room_.resize(static_cast<size_t>(n_ * classes_));
  chances_.resize(room_.size());
}

SoftmaxPath::Point SoftmaxPath::zero() const {
  const int64_t m = spanned_ ? n_ : x_.columns();
  return {Buffer<float>(static_cast<size_t>(m * classes_), 0.0f),
          Buffer<float>(static_cast<size_t>(n_ * classes_), 0.0f),
          std::vector<double>(static_cast<size_t>(classes_), 0)};
}

void SoftmaxPath::find_image(Point& point) {
  ++products_;
  if (!spanned_) return x_.forward(point.weights.data(), classes_, point.image.data());
  kernels::dense_product(kernels::plain(products_of_rows_.data(), n_), kernels::plain(point.weights.data(), classes_),
                         n_, classes_, n_, point.image.data(), classes_, {}, x_.threads());
  for (float& value : point.image) value *= static_cast<float>(n_);
}

void SoftmaxPath::find_chances() {
  double sum = 0, bend = 0;
  for (int64_t i = 0; i < n_; ++i) {
    const float* image = point_.image.data() + i * classes_;
    float* p = chances_.data() + i * classes_;
    float top = -INFINITY, total = 0;
    for (int64_t c = 0; c < classes_; ++c) {
      p[c] = image[c] + static_cast<float>(point_.bias[c]);
      top = std::max(top, p[c]);
    }
    const float own = p[labels_[i]];
    for (int64_t c = 0; c < classes_; ++c) total += p[c] = std::exp(p[c] - top);
    for (int64_t c = 0; c < classes_; ++c) {
      p[c] /= total;
      bend += p[c] * (1 - p[c]);
    }
    sum += static_cast<double>(std::log(total)) + top - own;
  }
  curvature_ = std::max(kSmallestBend, bend / static_cast<double>(n_ * classes_));
  loss_ = sum / static_cast<double>(n_) + penalty_ / 2 * inner(point_, point_);
  if (!std::isfinite(loss_)) throw numerical_error("probe: the loss is not finite");
}

// Without the penalty.
double SoftmaxPath::loss_at(const Point& step, double length) const {
  double sum = 0;
  std::vector<float> z(static_cast<size_t>(classes_));
  for (int64_t i = 0; i < n_; ++i) {
    float top = -INFINITY, total = 0;
    for (int64_t c = 0; c < classes_; ++c) {
      z[c] = static_cast<float>(point_.image[i * classes_ + c] + point_.bias[c] +
                                length * (step.image[i * classes_ + c] + step.bias[c]));
      top = std::max(top, z[c]);
    }
    for (int64_t c = 0; c < classes_; ++c) total += std::exp(z[c] - top);
    sum += static_cast<double>(std::log(total)) + top - z[labels_[i]];
  }
  return sum / static_cast<double>(n_);
}

void SoftmaxPath::pull(const Buffer<float>& g, double factor, Point& to) const {
  std::fill(to.bias.begin(), to.bias.end(), 0);
  for (int64_t i = 0; i < n_; ++i) {
    for (int64_t c = 0; c < classes_; ++c) to.bias[c] += factor * g[i * classes_ + c];
  }
  if (spanned_)
    std::copy(g.begin(), g.end(), to.weights.begin());
  else
    x_.backward(g.data(), classes_, to.weights.data());
  for (float& value : to.weights) value *= static_cast<float>(factor);
}

double SoftmaxPath::inner(const Point& a, const Point& b) const {
  return dot_of(a.weights, spanned_ ? b.image : b.weights);
}

double SoftmaxPath::inner_with_bias(const Point& a, const Point& b) const {
  double sum = inner(a, b);
  for (int64_t c = 0; c < classes_; ++c) sum += a.bias[c] * b.bias[c];
  return sum;
}

void SoftmaxPath::gradient(Point& to) const {
  room_ = chances_;
  for (int64_t i = 0; i < n_; ++i) room_[i * classes_ + labels_[i]] -= 1;
  pull(room_, 1 / static_cast<double>(n_), to);
  add_times(to.weights, penalty_, point_.weights);
}

void SoftmaxPath::curvature_times(const Point& p, Point& to) {
  for (int64_t i = 0; i < n_; ++i) {
    const float* chance = chances_.data() + i * classes_;
    float* out = room_.data() + i * classes_;
    float mean = 0;
    for (int64_t c = 0; c < classes_; ++c) {
      out[c] = p.image[i * classes_ + c] + static_cast<float>(p.bias[c]);
      mean += chance[c] * out[c];
    }
    for (int64_t c = 0; c < classes_; ++c) out[c] = chance[c] * (out[c] - mean);
  }
  pull(room_, 1 / static_cast<double>(n_), to);
  ++products_;
  add_times(to.weights, penalty_, p.weights);
}

void SoftmaxPath::refresh_preconditioner() {
  if (!x_.is_dense()) return;
  if (!factor_.empty() && penalty_ > kRefactored * factored_penalty_) return;
  factor_.factorise(products_of_rows_, spanned_ ? n_ : x_.columns(), curvature_, penalty_, x_.threads());
  factored_penalty_ = penalty_;
}

void SoftmaxPath::precondition(Point& point) const {
  for (double& value : point.bias) value /= curvature_;
  if (x_.is_dense()) return factor_.solve(point.weights.data(), classes_, x_.threads());
  const auto factor = static_cast<float>(1 / (curvature_ / static_cast<double>(x_.columns()) + penalty_));
  for (float& value : point.weights) value *= factor;
}

SoftmaxPath::Point SoftmaxPath::search(const Point& slope) {
  Point step = zero(), rest = slope, bent = zero();
  for (float& value : rest.weights) value = -value;
  for (double& value : rest.bias) value = -value;
  Point towards = rest;
  precondition(towards);
  find_image(towards);
  double size = inner_with_bias(rest, towards);
  const double enough = kResidual * size;
  for (int64_t k = 0; k < kMostInnerSteps && size > 0; ++k) {
    curvature_times(towards, bent);
    // p.Hp by the images of p: exact also where weights are of the span.
    double height = penalty_ * inner(towards, towards);
    for (int64_t i = 0; i < n_; ++i) {
      for (int64_t c = 0; c < classes_; ++c)
        height += static_cast<double>(room_[i * classes_ + c]) * (towards.image[i * classes_ + c] + towards.bias[c]) /
                  static_cast<double>(n_);
    }
    if (!(height > 0)) break;
    const double length = size / height;
    add_times(step.weights, length, towards.weights);
    add_times(step.image, length, towards.image);
    add_times(rest.weights, -length, bent.weights);
    for (int64_t c = 0; c < classes_; ++c) {
      step.bias[c] += length * towards.bias[c];
      rest.bias[c] -= length * bent.bias[c];
    }
    Point next = rest;
    precondition(next);
    find_image(next);
    const double now = inner_with_bias(rest, next);
    if (!(now > enough)) break;
    const double kept = now / size;
    size = now;
    scale_and_add(towards.weights, kept, next.weights);
    scale_and_add(towards.image, kept, next.image);
    for (int64_t c = 0; c < classes_; ++c) towards.bias[c] = next.bias[c] + kept * towards.bias[c];
  }
  return step;
}

bool SoftmaxPath::fit(double penalty) {
  flush_denormals();
  penalty_ = penalty;
  find_image(point_);
  find_chances();
  refresh_preconditioner();
  Point slope = zero();
  for (int64_t k = 0; k < kMostSteps; ++k) {
    gradient(slope);
    const Point step = search(slope);
    const double descent = inner_with_bias(slope, step);  // negative
    const double own = inner(point_, point_), mixed = inner(point_, step), square = inner(step, step);
    double length = 1;
    bool smaller = false;
    for (int64_t halving = 0; halving < 40 && !smaller; ++halving) {
      const double value = loss_at(step, length) + penalty_ / 2 * (own + 2 * length * mixed + length * length * square);
      smaller = value <= loss_ + 1e-4 * length * descent;
      if (!smaller) length /= 2;
    }
    // Without a smaller value the rest is rounding.
    if (!smaller) return -descent / 2 <= 1e-3 * loss_;
    add_times(point_.weights, length, step.weights);
    add_times(point_.image, length, step.image);
    for (int64_t c = 0; c < classes_; ++c) point_.bias[c] += length * step.bias[c];
    find_chances();
    if (-descent / 2 <= kLeftToGain * loss_) return true;
  }
  return false;
}

LinearScores SoftmaxPath::scores() const {
  if (!spanned_) return x_.unscaled(point_.weights.data(), point_.bias.data(), classes_);
  std::vector<float> weights(static_cast<size_t>(x_.columns() * classes_));
  x_.backward(point_.weights.data(), classes_, weights.data());
  return x_.unscaled(weights.data(), point_.bias.data(), classes_);
}

}  // namespace graphpae
