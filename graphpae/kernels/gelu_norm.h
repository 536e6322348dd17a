// An activation followed by layer normalisation, in one pass over the rows.
#pragma once

#include <cstdint>

#include "graphpae/core/threads.h"

namespace graphpae::kernels {

enum class NormActivation { kGelu, kRelu };  // GELU is the exact one, x (1 + erf(x / sqrt 2)) / 2

constexpr float kNormEpsilon = 1e-5f;

// y = LayerNorm(activation(x)) over the rows of x [M,D], with weight and bias [D]. Stores the mean and 1 / standard
// deviation of each row in mean and inverse_deviation [M]. y may be x if the backward is not needed.
void activation_norm(NormActivation activation, const float* x, const float* weight, const float* bias, int64_t m,
                     int64_t d, float* y, float* mean, float* inverse_deviation, Threads threads);

// Backward from x, d_y [M,D] and what the forward stored: d_x [M,D] (may be d_y), d_weight and d_bias [D] are set. The
// activation is computed again. Any number of threads gives the same bits.
void activation_norm_backward(NormActivation activation, const float* x, const float* weight, const float* mean,
                              const float* inverse_deviation, const float* d_y, int64_t m, int64_t d, float* d_x,
                              float* d_weight, float* d_bias, Threads threads);

// y[i] = erf(x[i]) for i in [0, n), absolute error at most 2e-7. For tests of the function used above.
void erf_values(const float* x, int64_t n, float* y);

}  // namespace graphpae::kernels
