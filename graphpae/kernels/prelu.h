// PReLU with one learnt slope, and dropout after it, in one pass over rows [N,D]. Same bits for any number of threads.
#pragma once

#include <cstdint>

#include "graphpae/core/threads.h"
#include "graphpae/kernels/dropout.h"

namespace graphpae::kernels {

// y = dropout(x > 0 ? x : slope x). x and y are [N,D] and may be the same.
void prelu_dropout(const float* x, float slope, int64_t n, int64_t d, const Dropout& dropout, float* y,
                   Threads threads);

// Its backward from x [N,D] and d_y [N,D]: d_x [N,D], which may be d_y, and the gradient of the slope.
float prelu_dropout_backward(const float* x, float slope, const float* d_y, int64_t n, int64_t d,
                             const Dropout& dropout, float* d_x, Threads threads);

}  // namespace graphpae::kernels
