// Operations on the rows of float32 matrices [N,D] (row-major, no gaps between rows) that are bound by memory: each is
// one pass. Sums over rows go over a number of slots that depends on N only and are added in order, so any number of
// threads gives the same bits.
#pragma once

#include <cstdint>

#include "graphpae/core/threads.h"
#include "graphpae/kernels/dropout.h"

namespace graphpae::kernels {

// y = dropout(elu(x + bias)). x and y are [N,D] and may be the same; bias is [D] or null.
void bias_elu_dropout(const float* x, const float* bias, int64_t n, int64_t d, const Dropout& dropout, float* y,
                      Threads threads);

// Backward of bias_elu_dropout from its output y [N,D] and d_y [N,D]: d_x [N,D] (may be d_y) and d_bias [D], the column
// sums of d_x (or null).
void bias_elu_dropout_backward(const float* y, const float* d_y, int64_t n, int64_t d, const Dropout& dropout,
                               float* d_x, float* d_bias, Threads threads);

// y = dropout(x), [N,D], y may be x. The backward is the same function: d_x = dropout(d_y).
void apply_dropout(const float* x, int64_t n, int64_t d, const Dropout& dropout, float* y, Threads threads);

// sums[j] = sum over i of x[i,j]: x is [N,D], sums [D].
void column_sums(const float* x, int64_t n, int64_t d, float* sums, Threads threads);

// y[m,:] = x[rows[m],:]: x is [N,D], rows [M], y [M,D].
void gather_rows(const float* x, const int32_t* rows, int64_t m, int64_t d, float* y, Threads threads);

// y = 0, then y[rows[m],:] = x[m,:]: x is [M,D], y [N,D], rows [M] are distinct.
void scatter_rows(const float* x, const int32_t* rows, int64_t m, int64_t n, int64_t d, float* y, Threads threads);

}  // namespace graphpae::kernels
