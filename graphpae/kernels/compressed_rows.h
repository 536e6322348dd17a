// Products with a dense matrix that is full of zeros, as ReLU and dropout leave it: the zeros are skipped, exactly.
//
// The other operand goes through in blocks of columns that stay in the caches. The terms of every sum are added in an
// order that depends on the matrix only, so any number of threads gives the same bits.
#pragma once

#include <cstdint>

#include "graphpae/core/buffer.h"
#include "graphpae/core/threads.h"

namespace graphpae::kernels {

// The elements of a matrix [R,K] that are not zero, row by row.
struct CompressedRows {
  int64_t rows = 0, columns = 0;
  int64_t stride = 0;         // elements that a row has room for, a multiple of 8
  Buffer<float> values;       // [R,stride] zeros fill up the last 8
  Buffer<int32_t> column_of;  // [R,stride] of zeros that fill up: 0
  Buffer<int32_t> lengths;    // [R] elements that are not zero
};

// x [R,K].
CompressedRows compress_rows(const float* x, int64_t rows, int64_t columns, Threads threads);

// Whether the products are faster than dense ones if this share of the elements is not zero.
inline bool compression_pays(double share) { return share < 0.35; }

// out [R,D] = A w + bias: w [K,D], bias [D] or null.
void compressed_product(const CompressedRows& a, const float* w, int64_t d, const float* bias, float* out,
                        Threads threads);

// out [K,D] = A^T y: y [R,D]; rows of out are `stride` apart.
void compressed_transposed_product(const CompressedRows& a, const float* y, int64_t d, float* out, int64_t stride,
                                   Threads threads);

// out [R,K] = y w^T where A is not zero, and zero elsewhere: y [R,D], w [K,D] with rows `stride` apart.
void sampled_product(const CompressedRows& a, const float* y, const float* w, int64_t stride, int64_t d, float* out,
                     Threads threads);

}  // namespace graphpae::kernels
