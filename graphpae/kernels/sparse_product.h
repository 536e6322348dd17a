// The first layer of the encoder: corrupted features times a weight matrix.
//
// Node i shows the feature row row_map[i], or none (-1). Dropout applies to the element (node, column). Nodes without a
// feature row may show a learned token [F] instead: see token_product.h.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphpae/core/buffer.h"
#include "graphpae/core/features.h"
#include "graphpae/core/threads.h"
#include "graphpae/kernels/dropout.h"

namespace graphpae::kernels {

// A sparse matrix X [rows, columns] by rows and by columns. Buffers keep their capacity from step to step.
struct CorruptedRows {
  int64_t rows = 0;
  int64_t columns = 0;
  Buffer<int64_t> offsets;         // [rows+1]
  Buffer<int32_t> indices;         // [nonzeros], columns of each row, ascending
  Buffer<float> values;            // [nonzeros]
  Buffer<int64_t> column_offsets;  // [columns+1]
  Buffer<int32_t> column_rows;     // [nonzeros], rows of each column, ascending
  Buffer<float> column_values;     // [nonzeros]
  Buffer<int64_t> places;          // scratch of the transposition

  int64_t nonzeros() const { return offsets.empty() ? 0 : offsets.back(); }
};

// out = X with X[i,:] = dropout(features[row_map[i],:]): dropped elements are left out, kept ones are scaled.
// `features` is sparse; row_map [N] holds -1 for empty rows.
void build_corrupted_rows(const Features& features, std::span<const int32_t> row_map, const Dropout& dropout,
                          CorruptedRows& out, Threads threads);

// The same for dense features: out [N,F], to be used with dense_product.
void build_corrupted_dense(const Features& features, std::span<const int32_t> row_map, const Dropout& dropout,
                           float* out, Threads threads);

// Y = X W: w is [F,D], y [N,D]. Rows without entries become zero.
void csr_product(const CorruptedRows& x, const float* w, int64_t d, float* y, Threads threads);

// left [F] times right [D]: a matrix of rank one that a product starts from.
struct RankOne {
  const float* left = nullptr;
  const float* right = nullptr;
};

// dW = X^T dY (+ start, if its pointers are set): d_y is [N,D], d_w [F,D].
void csc_product(const CorruptedRows& x, const float* d_y, int64_t d, float* d_w, Threads threads, RankOne start = {});

}  // namespace graphpae::kernels
