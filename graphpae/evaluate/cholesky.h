// Cholesky: the factor of a symmetric positive matrix M = L L^T [n,n], row-major in float64, on one thread.
#pragma once

#include <cstdint>
#include <vector>

namespace graphpae {

class Cholesky {
 public:
  // Reads the lower triangle (row >= column) and works in its place. Returns false if the matrix is not positive
  // definite as far as rounding shows; there is no factor then.
  bool factorise(std::vector<double> matrix, int64_t n);

  // In place, x [n].
  void multiply_transposed(double* x) const;  // x <- L^T x
  void solve(double* x) const;                // x <- L^-1 x
  void solve_transposed(double* x) const;     // x <- L^-T x

 private:
  const double* row(int64_t i) const { return l_.data() + i * n_; }

  int64_t n_ = 0;
  std::vector<double> l_;
};

}  // namespace graphpae
