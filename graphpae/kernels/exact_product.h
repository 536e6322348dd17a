// Products of float32 rows with one vector, summed in float64, for optima that must be exact. Nothing here allocates or
// starts threads.
#pragma once

#include <cstdint>

namespace graphpae::kernels {

// y = x v: x is [n,d], v [d], y [n].
void exact_product(const float* x, const double* v, int64_t n, int64_t d, double* y);

// d_v += x^T d_y: x is [n,d], d_y [n], d_v [d].
void add_exact_gradient(const float* x, const double* d_y, int64_t n, int64_t d, double* d_v);

}  // namespace graphpae::kernels
