// Operations on the rows of float32 matrices [N,D] (row-major, no gaps between rows) that are bound by memory: each is
// one pass. Sums over rows go over a number of slots that depends on N only and are added in order, so any number of
// threads gives the same bits.
#pragma once

#include <cstdint>

#include "graphpae/core/threads.h"
#include "graphpae/kernels/dropout.h"

namespace graphpae::kernels {

// Into how many parts a sum over `rows` rows is divided.
inline int64_t row_slots(int64_t rows) {
  constexpr int64_t kMostSlots = 64, kRowsPerSlot = 32;
  const int64_t slots = (rows + kRowsPerSlot - 1) / kRowsPerSlot;
  return slots < 1 ? 1 : (slots > kMostSlots ? kMostSlots : slots);
}

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

// source[n,h] = x[n, head h] . a_source[head h] and target likewise with a_target: x is [N,D], a_source and a_target
// [D], source and target [N,H]. D is a multiple of H, a head is D/H columns.
void head_logits(const float* x, const float* a_source, const float* a_target, int64_t n, int64_t d, int64_t heads,
                 float* source, float* target, Threads threads);

// Backward of head_logits from d_source and d_target [N,H]: d_x [N,D] += the gradient; d_a_source and d_a_target [D]
// are set.
void head_logits_backward(const float* x, const float* a_source, const float* a_target, const float* d_source,
                          const float* d_target, int64_t n, int64_t d, int64_t heads, float* d_x, float* d_a_source,
                          float* d_a_target, Threads threads);

// y = x v for a small K (up to about 16): x is [N,D], v [D,K], y [N,K].
void narrow_product(const float* x, const float* v, int64_t n, int64_t d, int64_t k, float* y, Threads threads);

// Backward of narrow_product from d_y [N,K]: d_x [N,D] = d_y v^T (or null), d_v [D,K] = x^T d_y (or null). v may be
// null if d_x is, x may be null if d_v is.
void narrow_product_backward(const float* x, const float* v, const float* d_y, int64_t n, int64_t d, int64_t k,
                             float* d_x, float* d_v, Threads threads);

}  // namespace graphpae::kernels
