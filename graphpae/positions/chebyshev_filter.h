// ChebyshevFilter: the polynomial p = T_d o t, where t maps [lower, cut] linearly to [-1, 1].
//
// Applied to a symmetric matrix with no eigenvalue below `lower`, it keeps the eigenvalues up to `cut` within
// [-1, 1] and amplifies those above, monotonically, so that a Krylov method meets the wanted end first.
#pragma once

#include <cmath>

namespace graphpae {

class ChebyshevFilter {
 public:
  ChebyshevFilter(double lower, double cut, int degree)
      : centre_((cut + lower) / 2), half_width_((cut - lower) / 2), degree_(degree) {}

  // p(x) = x, for a matrix with eigenvalues in [-1, 1].
  static ChebyshevFilter identity() { return {-1.0, 1.0, 1}; }

  int degree() const { return degree_; }
  double centre() const { return centre_; }
  double half_width() const { return half_width_; }
  double cut() const { return centre_ + half_width_; }
  bool is_identity() const { return degree_ == 1; }

  // p(x) and p'(x) for x >= cut, where the derivative is positive.
  double value(double x) const {
    const double t = (x - centre_) / half_width_;
    return degree_ == 1 ? t : std::cosh(degree_ * std::acosh(std::fmax(t, 1.0)));
  }
  double slope(double x) const {
    if (degree_ == 1) return 1.0 / half_width_;
    const double angle = std::acosh(std::fmax((x - centre_) / half_width_, 1.0));
    const double ratio = angle < 1e-6 ? degree_ : std::sinh(degree_ * angle) / std::sinh(angle);
    return degree_ * ratio / half_width_;
  }

  // The x >= cut with p(x) = value; the cut itself for values below 1, which no x above it has.
  double inverse(double value) const {
    if (degree_ == 1) return centre_ + half_width_ * value;
    return centre_ + half_width_ * std::cosh(std::acosh(std::fmax(value, 1.0)) / degree_);
  }

 private:
  double centre_;
  double half_width_;
  int degree_;
};

}  // namespace graphpae
