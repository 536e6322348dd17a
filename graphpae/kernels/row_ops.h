// Operations on the rows of float32 matrices [N,D] (row-major, no gaps between rows) that are bound by memory: each is
// one pass. Sums over rows go over a number of slots that depends on N only and are added in order, so any number of
// threads gives the same bits.
#pragma once

#include <cstdint>

#include "graphpae/core/threads.h"
#include "graphpae/kernels/dropout.h"

namespace graphpae::kernels {

// y = dropout(elu(x)). x and y are [N,D] and may be the same.
void elu_dropout(const float* x, int64_t n, int64_t d, const Dropout& dropout, float* y, Threads threads);

// Its backward from its output y [N,D] and d_y [N,D]: d_x [N,D], which may be d_y.
void elu_dropout_backward(const float* y, const float* d_y, int64_t n, int64_t d, const Dropout& dropout, float* d_x,
                          Threads threads);

// y = dropout(x > 0 ? x : slope x). x and y are [N,D] and may be the same.
void prelu_dropout(const float* x, float slope, int64_t n, int64_t d, const Dropout& dropout, float* y,
                   Threads threads);

// Its backward from x [N,D] and d_y [N,D]: d_x [N,D], which may be d_y, and the gradient of the slope.
float prelu_dropout_backward(const float* x, float slope, const float* d_y, int64_t n, int64_t d,
                             const Dropout& dropout, float* d_x, Threads threads);

// sums[j] = sum over i of x[i,j]: x is [N,D], sums [D].
void column_sums(const float* x, int64_t n, int64_t d, float* sums, Threads threads);

// y[m,:] = x[rows[m],:]: x is [N,D], rows [M], y [M,D].
void gather_rows(const float* x, const int32_t* rows, int64_t m, int64_t d, float* y, Threads threads);

// y = 0, then y[rows[m],:] = x[m,:]: x is [M,D], y [N,D], rows [M] are distinct.
void scatter_rows(const float* x, const int32_t* rows, int64_t m, int64_t n, int64_t d, float* y, Threads threads);

}  // namespace graphpae::kernels
