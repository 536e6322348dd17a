#include "graphpae/evaluate/statistics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "graphpae/core/error.h"

namespace graphpae {
namespace {

// Up to here the finite sum, beyond it the expansion, which then is good to twelve digits.
constexpr int64_t kMostSummed = 1000;

// P(|T| < t) of Student's distribution for t = sqrt(degrees) tan(angle), 0 <= angle <= pi / 2. Takes time in proportion
// to degrees >= 1.
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

// Where the increasing `function` passes `value`, between low and high.
template <class Function>
double solve_increasing(const Function& function, double value, double low, double high) {
  constexpr int kHalvings = 100;  // enough for full precision of roots down to 1e-14 of the range
  for (int step = 0; step < kHalvings; ++step) {
    const double middle = (low + high) / 2;
    (function(middle) < value ? low : high) = middle;
  }
  return low;
}

// Cornish-Fisher expansion about the normal quantile z (Abramowitz and Stegun, 26.7.5).
double expanded_quantile(double z, int64_t degrees) {
  const double x = z * z, inverse = 1 / static_cast<double>(degrees);
  const double g1 = (x + 1) / 4;
  const double g2 = ((5 * x + 16) * x + 3) / 96;
  const double g3 = (((3 * x + 19) * x + 17) * x - 15) / 384;
  const double g4 = ((((79 * x + 776) * x + 1482) * x - 1920) * x - 945) / 92160;
  return z * (1 + inverse * (g1 + inverse * (g2 + inverse * (g3 + inverse * g4))));
}

}  // namespace

double student_t_quantile(double probability, int64_t degrees) {
  if (!(probability > 0 && probability < 1)) {
    throw usage_error(fmt::format("probability {} is not between 0 and 1", probability));
  }
  if (degrees < 1) throw usage_error(fmt::format("{} degrees of freedom, expected at least 1", degrees));

  double size = 0;
  if (degrees <= kMostSummed) {
    const double central = std::abs(2 * probability - 1);
    const auto within = [&](double angle) { return student_t_within(angle, degrees); };
    const double angle = solve_increasing(within, central, 0, std::numbers::pi / 2);
    size = std::sqrt(static_cast<double>(degrees)) * std::tan(angle);
  } else {
    // erfc keeps the digits of a small tail.
    const double tail = std::min(probability, 1 - probability);
    const auto below = [](double z) { return -std::erfc(z / std::numbers::sqrt2) / 2; };
    size = expanded_quantile(solve_increasing(below, -tail, 0, 40), degrees);
  }
  return probability < 0.5 ? -size : size;
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

Statistics statistics(std::span<const double> values) { return overlapping_statistics(values, 0); }

Statistics overlapping_statistics(std::span<const double> values, double overlap) {
  if (values.empty()) throw data_error("statistics of no values");
  const auto count = static_cast<double>(values.size());
  // Relative to the first value, equal values have exactly that mean and no deviation.
  double shift = 0;
  for (const double value : values) shift += value - values[0];
  const double mean = values[0] + shift / count;

  Statistics result{static_cast<int64_t>(values.size()), mean, 0, 0, 0};
  if (values.size() == 1) {
    result.low = result.high = std::numeric_limits<double>::quiet_NaN();
    return result;
  }
  double squares = 0;
  for (const double value : values) squares += (value - mean) * (value - mean);
  result.deviation = std::sqrt(squares / (count - 1));
  const double reach = student_t_quantile(0.975, result.count - 1) * result.deviation * std::sqrt(1 / count + overlap);
  result.low = mean - reach;
  result.high = mean + reach;
  return result;
}

}  // namespace graphpae
