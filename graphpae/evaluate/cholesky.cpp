#include "graphpae/evaluate/cholesky.h"

#include <cmath>

#include "graphpae/kernels/eigen_kernels.h"

namespace graphpae {

bool Cholesky::factorise(std::vector<double> matrix, int64_t n) {
  n_ = n;
  l_ = std::move(matrix);
  for (int64_t i = 0; i < n; ++i) {
    double* own = l_.data() + i * n;
    for (int64_t j = 0; j < i; ++j) own[j] = (own[j] - kernels::dot(own, row(j), j)) / row(j)[j];
    const double square = own[i] - kernels::dot(own, own, i);
    if (!(square > 0)) return false;
    own[i] = std::sqrt(square);
  }
  return true;
}

void Cholesky::multiply_transposed(double* x) const {
  for (int64_t i = 0; i < n_; ++i) {
    // Row i is column i of L^T: it adds to entries up to i, of which those below i wait for nothing more from x.
    const double value = x[i];
    for (int64_t j = 0; j < i; ++j) x[j] += value * row(i)[j];
    x[i] = value * row(i)[i];
  }
}

void Cholesky::solve(double* x) const {
  for (int64_t i = 0; i < n_; ++i) x[i] = (x[i] - kernels::dot(row(i), x, i)) / row(i)[i];
}

void Cholesky::solve_transposed(double* x) const {
  for (int64_t i = n_ - 1; i >= 0; --i) {
    x[i] /= row(i)[i];
    for (int64_t j = 0; j < i; ++j) x[j] -= x[i] * row(i)[j];
  }
}

}  // namespace graphpae
