// A product with a dense matrix that is full of zeros, as ReLU and dropout leave it: the zeros are skipped, exactly.
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
  int64_t stride = 0;         // elements that a row has room for
  Buffer<float> values;       // [R,stride]
  Buffer<int32_t> column_of;  // [R,stride]
  Buffer<int32_t> lengths;    // [R] even: a zero fills up
};

// x [R,K].
CompressedRows compress_rows(const float* x, int64_t rows, int64_t columns, Threads threads);

// Whether the product is faster than a dense one if this share of the elements is not zero.
inline bool compression_pays(double share) { return share < 0.35; }

// out [R,D] = A w + bias: w [K,D], bias [D] or null.
void compressed_product(const CompressedRows& a, const float* w, int64_t d, const float* bias, float* out,
                        Threads threads);

}  // namespace graphpae::kernels
