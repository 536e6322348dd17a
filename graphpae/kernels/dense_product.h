// Dense matrix products in float32.
//
// The operands are packed into tiles that fit the caches, and a tile of the output is summed in registers. The terms of
// every sum are added in an order that depends on the shapes only, so any number of threads gives the same bits.
#pragma once

#include <cstdint>

#include "graphpae/core/threads.h"

namespace graphpae::kernels {

enum class Form { kPlain, kTransposed };

// A stored matrix, row-major: row i starts at data + i * stride.
struct MatrixView {
  const float* data = nullptr;
  int64_t stride = 0;
  Form form = Form::kPlain;
};

inline MatrixView plain(const float* data, int64_t stride) { return {data, stride, Form::kPlain}; }
inline MatrixView transposed(const float* data, int64_t stride) { return {data, stride, Form::kTransposed}; }

struct ProductOptions {
  bool accumulate = false;      // add to what C holds
  const float* bias = nullptr;  // [n], added to each row of C
  bool tiles = true;            // by matrix tiles (tile_product.h) where they pay
};

// C = op(A) op(B) (+ C) (+ bias). op(A) is [m,k]: A is stored as [m,k] if plain and as [k,m] if transposed; op(B) is
// [k,n] likewise. C is [m,n] with rows c_stride apart and must not overlap A or B. m, n and k may be 0: with k = 0 the
// product is zero.
void dense_product(MatrixView a, MatrixView b, int64_t m, int64_t n, int64_t k, float* c, int64_t c_stride,
                   const ProductOptions& options, Threads threads);

// C = op(A) op(B) [n,n] for a result that is known to be symmetric, such as A A^T, A^T A or A^T diag(s) A: the lower
// triangle is computed in blocks (a little more than half the work) and mirrored, so C is symmetric bit by bit.
void symmetric_product(MatrixView a, MatrixView b, int64_t n, int64_t k, float* c, int64_t c_stride, Threads threads);

}  // namespace graphpae::kernels
