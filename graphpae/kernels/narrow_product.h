// Products of a matrix [N,D] with few columns, in float32: one pass over the matrix, which they are bound by. Sums over
// rows are divided by row_ranges.h, so any number of threads gives the same bits.
#pragma once

#include <cstdint>

#include "graphpae/core/threads.h"

namespace graphpae::kernels {

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

// Backward of narrow_product from d_y [N,K]: d_x [N,D] = d_y v^T (or null), d_v [D,K] = x^T d_y. v may be
// null if d_x is.
void narrow_product_backward(const float* x, const float* v, const float* d_y, int64_t n, int64_t d, int64_t k,
                             float* d_x, float* d_v, Threads threads);

}  // namespace graphpae::kernels
