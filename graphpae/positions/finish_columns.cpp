#include <algorithm>
#include <cmath>
#include <numbers>
#include <vector>

#include "graphpae/positions/solve_graph.h"

namespace graphpae {
namespace {

constexpr double kNearlyLargest = 1.0 - 1e-3;
constexpr double kSmallestEigenvalue = 1e-12;  // square roots of smaller ones are not divided by
constexpr int64_t kRowsPerRange = 4096;

// The first `columns` columns of `vectors` [N,stride].
struct Columns {
  std::span<double> vectors;
  int64_t stride, columns;
  Threads threads;

  int64_t rows() const { return stride == 0 ? 0 : static_cast<int64_t>(vectors.size()) / stride; }

  // For every column the combination over all rows of value(entry, column): rows in order within fixed ranges, ranges
  // in order, so that the number of threads does not matter.
  template <class Value, class Combine>
  std::vector<double> reduce(const Value& value, const Combine& combine) const {
    const int64_t n = rows(), ranges = (n + kRowsPerRange - 1) / kRowsPerRange;
    std::vector<double> partial(ranges * columns, 0.0);
#pragma omp parallel for schedule(static) num_threads(threads.count) if (ranges > 1)
    for (int64_t range = 0; range < ranges; ++range) {
      double* sums = partial.data() + range * columns;
      for (int64_t i = range * kRowsPerRange; i < std::min(n, (range + 1) * kRowsPerRange); ++i) {
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
  void change(const Change& change) const {
    const int64_t n = rows();
#pragma omp parallel for schedule(static) num_threads(threads.count) if (n > kRowsPerRange)
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < columns; ++j) vectors[i * stride + j] = change(vectors[i * stride + j], j);
    }
  }
};

const auto kAbsolute = [](double x, int64_t) { return std::abs(x); };
const auto kSum = [](double a, double b) { return a + b; };
const auto kLargest = [](double a, double b) { return std::max(a, b); };

}  // namespace

void fix_signs(std::span<double> vectors, int64_t stride, int64_t columns, Threads threads) {
  const Columns all{vectors, stride, columns, threads};
  const auto largest = all.reduce(kAbsolute, kLargest);
  // The first entry that is nearly the largest decides; zero means none was met yet.
  const auto deciding =
      all.reduce([&](double x, int64_t j) { return std::abs(x) >= kNearlyLargest * largest[j] ? x : 0.0; },
                 [](double first, double next) { return first != 0.0 ? first : next; });
  all.change([&](double x, int64_t j) { return deciding[j] < 0 ? -x : x; });
}

void normalise_columns(std::span<double> vectors, int64_t stride, std::span<const double> eigenvalues,
                       PositionNormalisation normalisation, Threads threads) {
  const Columns all{vectors, stride, static_cast<int64_t>(eigenvalues.size()), threads};
  const auto root = [&](int64_t j) { return std::sqrt(std::max(eigenvalues[j], kSmallestEigenvalue)); };
  std::vector<double> divisor(all.columns, 1.0);
  switch (normalisation) {
    case PositionNormalisation::none: return;
    case PositionNormalisation::l1: divisor = all.reduce(kAbsolute, kSum); break;
    case PositionNormalisation::l2:
      divisor = all.reduce([](double x, int64_t) { return x * x; }, kSum);
      for (double& d : divisor) d = std::sqrt(d);
      break;
    case PositionNormalisation::max_abs: divisor = all.reduce(kAbsolute, kLargest); break;
    case PositionNormalisation::wavelength:
      divisor = all.reduce(kAbsolute, kLargest);
      for (int64_t j = 0; j < all.columns; ++j) divisor[j] *= root(j) * 2 / std::numbers::pi;
      break;
    case PositionNormalisation::wavelength_asin: {
      const auto largest = all.reduce(kAbsolute, kLargest);
      all.change(
          [&](double x, int64_t j) { return largest[j] > 0 ? std::asin(std::clamp(x / largest[j], -1.0, 1.0)) : 0.0; });
      for (int64_t j = 0; j < all.columns; ++j) divisor[j] = root(j);
      break;
    }
    case PositionNormalisation::wavelength_soft: {
      const auto weights = all.reduce([](double x, int64_t) { return std::exp(std::abs(x)); }, kSum);
      divisor = all.reduce([&](double x, int64_t j) { return std::exp(std::abs(x)) / weights[j] * std::abs(x); }, kSum);
      for (int64_t j = 0; j < all.columns; ++j) divisor[j] *= root(j);
      break;
    }
  }
  all.change([&](double x, int64_t j) { return divisor[j] > 0 ? x / divisor[j] : x; });
}

}  // namespace graphpae
