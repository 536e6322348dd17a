// Batch normalisation of the columns of a matrix [N,D], an activation and dropout, in float32.
//
//   unit = (x - mean) * inverse,  inverse = 1 / sqrt(variance + epsilon)
//   y = dropout(activation(unit * weight + bias))
//
// mean and variance are those of each column over the rows. Sums over rows are divided by row_ranges.h, so any number
// of threads gives the same bits.
#pragma once

#include <cstdint>

#include "graphpae/core/threads.h"
#include "graphpae/kernels/dropout.h"

namespace graphpae::kernels {

// Mean and variance (divided by N) of the columns of x [N,D] -> [D] each. N = 0: zeros.
void column_moments(const float* x, int64_t n, int64_t d, float* mean, float* variance, Threads threads);

struct BatchNorm {
  int64_t width;         // D
  const float* mean;     // [D]
  const float* inverse;  // [D]
  const float* weight;   // [D]
  const float* bias;     // [D]
  bool relu;             // the activation; otherwise none
  Dropout dropout;
};

// y [N,D] of x [N,D]; y may be x.
void batch_norm(const BatchNorm& norm, const float* x, int64_t n, float* y, Threads threads);

// From d_y [N,D]: d_x [N,D] (may be d_y), d_weight and d_bias [D], where mean and variance are those of x.
void batch_norm_backward(const BatchNorm& norm, const float* x, const float* d_y, int64_t n, float* d_x,
                         float* d_weight, float* d_bias, Threads threads);

}  // namespace graphpae::kernels
