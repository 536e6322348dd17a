// Dense products in float32 by matrix tiles (AMX), an instruction set of Intel servers since 2023. Tiles multiply
// bfloat16 numbers, 16 times as many at a time as vectors multiply float32, and add in float32.
//
// A float32 number is the sum of three bfloat16 numbers, each the one nearest to what those before it leave:
// x = x0 + x1 + x2. Of the nine products of two such sums six are made,
//   x y = x0 y2 + x0 y1 + x1 y1 + x1 y0 + x2 y0 + x0 y0,
// and those left out are below 2^-25 of x y: less than what float32 rounds off. So the result is as exact as that of
// vectors, at twice the speed. Infinity becomes NaN, and numbers below 1e-33 lose digits.
#pragma once

#include <cstdint>

#include "graphpae/core/buffer.h"
#include "graphpae/kernels/dense_product.h"
#include "graphpae/kernels/product_blocks.h"

namespace graphpae::kernels {

// Whether this machine has tiles and they pay for products of n columns and k terms. Not if GRAPHPAE_AMX=0 is in the
// environment. The number of rows does not matter: a row has the same bits in any company.
bool tiles_pay(int64_t n, int64_t k);

// What one thread needs beside the operands.
class TileScratch {
 public:
  TileScratch(int64_t columns, int64_t k);  // the largest of the products

  uint16_t* a() { return a_.data(); }
  uint16_t* b() { return b_.data(); }

 private:
  AlignedArray<uint16_t> a_, b_;
};

// One block of C = op(A) op(B) (+ C) (+ bias), as in dense_product. Call it only if tiles_pay.
void tile_product(const MatrixView& a, const MatrixView& b, int64_t k, const Block& block, bool accumulate,
                  const float* bias, float* c, int64_t c_stride, TileScratch& scratch);

}  // namespace graphpae::kernels
