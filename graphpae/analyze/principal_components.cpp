#include "graphpae/analyze/principal_components.h"

#include <algorithm>
#include <cmath>

#include "graphpae/positions/symmetric_eigen.h"

namespace graphpae {
namespace {

// X^T X [D,D], the lower triangle. A task owns some rows of it.
std::vector<double> scatter(const std::vector<double>& x, int64_t n, int64_t d, Threads threads) {
  constexpr int64_t kRows = 8;
  std::vector<double> result(static_cast<size_t>(d * d), 0.0);
  const int64_t tasks = (d + kRows - 1) / kRows;
#pragma omp parallel for schedule(dynamic) num_threads(threads.count)
  for (int64_t task = 0; task < tasks; ++task) {
    const int64_t first = task * kRows, last = std::min(d, first + kRows);
    for (int64_t i = 0; i < n; ++i) {
      const double* row = x.data() + i * d;
      for (int64_t a = first; a < last; ++a) {
        double* to = result.data() + a * d;
        for (int64_t b = 0; b <= a; ++b) to[b] += row[a] * row[b];
      }
    }
  }
  return result;
}

}  // namespace

std::vector<double> centred_rows(const Features& x) {
  const int64_t n = x.rows(), d = x.columns();
  std::vector<double> rows(static_cast<size_t>(n * d)), mean(static_cast<size_t>(d), 0.0);
  for (int64_t i = 0; i < n; ++i) {
    double* row = rows.data() + i * d;
    x.copy_row(i, row);
    for (int64_t c = 0; c < d; ++c) mean[c] += row[c];
  }
  for (double& value : mean) value /= static_cast<double>(n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < d; ++c) rows[i * d + c] -= mean[c];
  }
  return rows;
}

PrincipalComponents principal_components(const Features& x, int64_t components, Threads threads) {
  const int64_t n = x.rows(), d = x.columns();
  PrincipalComponents result{n, std::min(components, d), {}, {}};
  const std::vector<double> rows = centred_rows(x);
  const SymmetricEigen eigen = symmetric_eigen(scatter(rows, n, d, threads), d, threads);
  double variance = 0;
  for (const double value : eigen.values) variance += std::max(0.0, value);
  std::vector<double> directions;  // [components,D]
  for (int64_t k = 0; k < result.components; ++k) {
    const double* vector = eigen.vectors.data() + (d - 1 - k) * d;
    const double largest =
        *std::max_element(vector, vector + d, [](double a, double b) { return std::abs(a) < std::abs(b); });
    for (int64_t c = 0; c < d; ++c) directions.push_back(largest < 0 ? -vector[c] : vector[c]);
    result.shares.push_back(variance > 0 ? std::max(0.0, eigen.values[d - 1 - k]) / variance : 0.0);
  }
  result.scores.resize(static_cast<size_t>(n * result.components));
#pragma omp parallel for schedule(static) num_threads(threads.count)
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < result.components; ++k) {
      double sum = 0;
      for (int64_t c = 0; c < d; ++c) sum += rows[i * d + c] * directions[k * d + c];
      result.scores[i * result.components + k] = sum;
    }
  }
  return result;
}

}  // namespace graphpae
