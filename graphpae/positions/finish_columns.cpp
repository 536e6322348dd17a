#include "graphpae/positions/finish_columns.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

namespace graphpae {
namespace {

constexpr double kNearlyLargest = 1.0 - 1e-3;
constexpr double kSmallestEigenvalue = 1e-12;  // square roots of smaller ones are not divided by
constexpr int64_t kRowsPerRange = 4096;

// For every column the combination over all rows of value(entry, column): rows in order within fixed ranges, ranges in
// order, so that the number of threads does not matter.
template <class Value, class Combine>
std::vector<double> column_reduction(std::span<const double> vectors, int64_t stride, int64_t columns, Threads threads,
                                     const Value& value, const Combine& combine) {
  const int64_t rows = stride == 0 ? 0 : static_cast<int64_t>(vectors.size()) / stride;
  const int64_t ranges = (rows + kRowsPerRange - 1) / kRowsPerRange;
  std::vector<double> partial(ranges * columns, 0.0);
#pragma omp parallel for schedule(static) num_threads(threads.count) if (ranges > 1)
  for (int64_t range = 0; range < ranges; ++range) {
    double* sums = partial.data() + range * columns;
    for (int64_t i = range * kRowsPerRange; i < std::min(rows, (range + 1) * kRowsPerRange); ++i) {
      for (int64_t j = 0; j < columns; ++j) sums[j] = combine(sums[j], value(vectors[i * stride + j], j));
    }
  }
  std::vector<double> total(columns, 0.0);
  for (int64_t range = 0; range < ranges; ++range) {
    for (int64_t j = 0; j < columns; ++j) total[j] = combine(total[j], partial[range * columns + j]);
  }
  return total;
}

template <class Change>
void change_entries(std::span<double> vectors, int64_t stride, int64_t columns, Threads threads, const Change& change) {
  const int64_t rows = stride == 0 ? 0 : static_cast<int64_t>(vectors.size()) / stride;
#pragma omp parallel for schedule(static) num_threads(threads.count) if (rows > kRowsPerRange)
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns; ++j) vectors[i * stride + j] = change(vectors[i * stride + j], j);
  }
}

const auto kSum = [](double a, double b) { return a + b; };
const auto kLargest = [](double a, double b) { return std::max(a, b); };

}  // namespace

void fix_signs(std::span<double> vectors, int64_t stride, int64_t columns, Threads threads) {
  const auto largest = column_reduction(
      vectors, stride, columns, threads, [](double x, int64_t) { return std::abs(x); }, kLargest);
  // The first entry that is nearly the largest decides; zero means none was met yet.
  const auto deciding = column_reduction(
      vectors, stride, columns, threads,
      [&](double x, int64_t j) { return std::abs(x) >= kNearlyLargest * largest[j] ? x : 0.0; },
      [](double first, double next) { return first != 0.0 ? first : next; });
  change_entries(vectors, stride, columns, threads, [&](double x, int64_t j) { return deciding[j] < 0 ? -x : x; });
}

void normalise_columns(std::span<double> vectors, int64_t stride, std::span<const double> eigenvalues,
                       PositionNormalisation normalisation, Threads threads) {
  const int64_t columns = static_cast<int64_t>(eigenvalues.size());
  const auto absolute = [](double x, int64_t) { return std::abs(x); };
  const auto root = [&](int64_t j) { return std::sqrt(std::max(eigenvalues[j], kSmallestEigenvalue)); };
  std::vector<double> divisor(columns, 1.0);
  switch (normalisation) {
    case PositionNormalisation::none: return;
    case PositionNormalisation::l1:
      divisor = column_reduction(vectors, stride, columns, threads, absolute, kSum);
      break;
    case PositionNormalisation::l2:
      divisor = column_reduction(
          vectors, stride, columns, threads, [](double x, int64_t) { return x * x; }, kSum);
      for (double& d : divisor) d = std::sqrt(d);
      break;
    case PositionNormalisation::max_abs:
      divisor = column_reduction(vectors, stride, columns, threads, absolute, kLargest);
      break;
    case PositionNormalisation::wavelength:
      divisor = column_reduction(vectors, stride, columns, threads, absolute, kLargest);
      for (int64_t j = 0; j < columns; ++j) divisor[j] *= root(j) * 2 / std::numbers::pi;
      break;
    case PositionNormalisation::wavelength_asin: {
      const auto largest = column_reduction(vectors, stride, columns, threads, absolute, kLargest);
      change_entries(vectors, stride, columns, threads, [&](double x, int64_t j) {
        return largest[j] > 0 ? std::asin(std::clamp(x / largest[j], -1.0, 1.0)) : 0.0;
      });
      for (int64_t j = 0; j < columns; ++j) divisor[j] = root(j);
      break;
    }
    case PositionNormalisation::wavelength_soft: {
      const auto weights = column_reduction(
          vectors, stride, columns, threads, [](double x, int64_t) { return std::exp(std::abs(x)); }, kSum);
      divisor = column_reduction(
          vectors, stride, columns, threads,
          [&](double x, int64_t j) { return std::exp(std::abs(x)) / weights[j] * std::abs(x); }, kSum);
      for (int64_t j = 0; j < columns; ++j) divisor[j] *= root(j);
      break;
    }
  }
  change_entries(vectors, stride, columns, threads,
                 [&](double x, int64_t j) { return divisor[j] > 0 ? x / divisor[j] : x; });
}

}  // namespace graphpae
