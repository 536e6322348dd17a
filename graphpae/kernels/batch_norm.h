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

// Mean of the columns of x [N,D] and the sums of squared distances to it -> [D] each. N = 0: zeros.
void column_moments(const float* x, int64_t n, int64_t d, double* mean, double* squares, Threads threads);

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

// The backward pass where mean and variance are those of x, or of x and rows elsewhere. First the sums over the rows,
// which are the gradients of bias and weight, from d_y [N,D] -> [D] each.
void batch_norm_parameter_gradients(const BatchNorm& norm, const float* x, const float* d_y, int64_t n, float* d_bias,
                                    float* d_weight, Threads threads);
// Then d_x [N,D] (may be d_y) from the means [D] of both over all rows that moments are of.
void batch_norm_backward(const BatchNorm& norm, const float* x, const float* d_y, int64_t n, const float* mean_bias,
                         const float* mean_weight, float* d_x, Threads threads);

}  // namespace graphpae::kernels
