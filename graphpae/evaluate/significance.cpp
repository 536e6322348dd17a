#include "graphpae/evaluate/significance.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "graphpae/core/error.h"

namespace graphpae {

// The integral of cos^(degrees-1), by parts until nothing is left (Abramowitz and Stegun, 26.7.3 and 26.7.4).
double student_t_within(double angle, int64_t degrees) {
  const bool odd = degrees % 2 == 1;
  const double cosine = std::cos(angle);
  double sum = 0, term = odd ? cosine : 1;
  for (int64_t k = odd ? 1 : 0; k < degrees - 1; k += 2) {
    sum += term;
    term *= cosine * cosine * static_cast<double>(k + 1) / static_cast<double>(k + 2);
  }
  const double part = std::sin(angle) * sum;
  return odd ? 2 / std::numbers::pi * (angle + part) : part;
}

double student_t_two_sided(double t, int64_t degrees) {
  if (degrees < 1) throw usage_error(fmt::format("{} degrees of freedom, expected at least 1", degrees));
  const double angle = std::atan(std::abs(t) / std::sqrt(static_cast<double>(degrees)));
  return std::clamp(1 - student_t_within(angle, degrees), 0.0, 1.0);
}

double sign_test(int64_t better, int64_t worse) {
  const auto pairs = static_cast<double>(better + worse);
  double tail = 0;
  for (int64_t k = 0; k <= std::min(better, worse); ++k) {
    const auto few = static_cast<double>(k);
    const double ways = std::lgamma(pairs + 1) - std::lgamma(few + 1) - std::lgamma(pairs - few + 1);
    tail += std::exp(ways - pairs * std::numbers::ln2);
  }
  return std::min(1.0, 2 * tail);
}

}  // namespace graphpae
