// Small dense matrices, [n,n] row-major in float64, on one thread.
#pragma once

#include <cstdint>
#include <vector>

namespace graphpae {

std::vector<double> product(const std::vector<double>& a, const std::vector<double>& b, int64_t n);

// R^-1 of the Cholesky factorisation M = R^T R: upper triangular. Columns X with X^T X = M become orthonormal as X
// R^-1.
std::vector<double> inverse_cholesky(const std::vector<double>& m, int64_t n);

// The symmetric orthogonal matrix I - 2 u u^T / u^T u whose first column is parallel to c. If c is close to e_1, it
// leaves the other columns alone.
std::vector<double> reflection_to(std::vector<double> c);

}  // namespace graphpae
