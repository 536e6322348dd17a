#include "graphpae/positions/small_matrix.h"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace graphpae {

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, int64_t n) {
  std::vector<double> result(n * n, 0.0);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t k = 0; k < n; ++k) {
      for (int64_t j = 0; j < n; ++j) result[i * n + j] += a[i * n + k] * b[k * n + j];
    }
  }
  return result;
}

std::vector<double> inverse_cholesky(const std::vector<double>& m, int64_t n) {
  std::vector<double> l(n * n, 0.0);  // R^T
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j <= i; ++j) {
      double sum = m[i * n + j];
      for (int64_t k = 0; k < j; ++k) sum -= l[i * n + k] * l[j * n + k];
      l[i * n + j] = i == j ? std::sqrt(std::max(sum, 1e-300)) : sum / l[j * n + j];
    }
  }
  std::vector<double> inverse(n * n, 0.0);
  for (int64_t j = 0; j < n; ++j) {  // column j of L^-1 is row j of R^-1
    double* row = inverse.data() + j * n;
    row[j] = 1.0 / l[j * n + j];
    for (int64_t i = j + 1; i < n; ++i) {
      double sum = 0;
      for (int64_t k = j; k < i; ++k) sum -= l[i * n + k] * row[k];
      row[i] = sum / l[i * n + i];
    }
  }
  return inverse;
}

std::vector<double> reflection_to(std::vector<double> c) {
  const int64_t n = static_cast<int64_t>(c.size());
  const double length = std::sqrt(std::inner_product(c.begin(), c.end(), c.begin(), 0.0));
  c[0] += std::copysign(length, c[0]);
  const double square = std::inner_product(c.begin(), c.end(), c.begin(), 0.0);
  std::vector<double> result(n * n, 0.0);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) result[i * n + j] = (i == j) - 2 * c[i] * c[j] / square;
  }
  return result;
}

}  // namespace graphpae
