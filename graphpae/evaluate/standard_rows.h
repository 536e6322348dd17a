// StandardRows: the rows a probe is trained on, from one block or several side by side. Columns are standardised on
// these rows: mean 0 and, unless a column never changes, deviation 1 (those of a rotated block: in common); then each
// block is scaled so that its rows have
// a mean squared length of its weight, whatever its width. Sparse blocks stay sparse, their means are taken out of the
// products instead.
//
// Inner products of rows are thus sum over blocks of weight * (those of the block): blocks that are combined share one
// penalty. Products have the same bits for any number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphpae/core/buffer.h"
#include "graphpae/core/features.h"
#include "graphpae/core/threads.h"
#include "graphpae/kernels/sparse_product.h"

namespace graphpae {

struct ProbeBlock {
  const Features* rows = nullptr;  // [N,D_b]; must outlive what is made of it
  double weight = 1;               // above 0
  bool rotated = false;            // columns are directions of a rotation: scaled together, not one by one
};

int64_t total_columns(std::span<const ProbeBlock> blocks);  // D, the sum of D_b

// Scores of classes, for rows as they are given: x W + bias, x the rows of all blocks side by side.
struct LinearScores {
  int64_t columns = 0, outputs = 0;
  std::vector<float> weights;  // [D,C]
  std::vector<float> bias;     // [C]

  // out [ids,C]
  void apply(std::span<const ProbeBlock> blocks, std::span<const int32_t> ids, float* out, Threads threads) const;
};

class StandardRows {
 public:
  // The rows `ids` of all blocks. Throws a data error if there are no blocks or no rows.
  StandardRows(std::span<const ProbeBlock> blocks, std::span<const int32_t> ids, Threads threads);

  int64_t rows() const { return rows_; }        // n
  int64_t columns() const { return columns_; }  // D
  int64_t live_columns() const;                 // those that change
  bool is_dense() const { return dense_form_; }
  Threads threads() const { return threads_; }

  // out = X w: w [D,c], out [n,c].
  void forward(const float* w, int64_t c, float* out) const;
  // d_w = X^T g: g [n,c], d_w [D,c].
  void backward(const float* g, int64_t c, float* d_w) const;

  // Of the dense form: X X^T / n [n,n] and X^T X / n [D,D].
  Buffer<float> row_products() const;
  Buffer<float> column_products() const;

  // The scores of w [D,c] and bias [c], of standardised columns, for rows as they are given.
  LinearScores unscaled(const float* w, const double* bias, int64_t c) const;

 private:
  struct SparseBlock {
    int64_t first = 0;  // column
    kernels::CorruptedRows rows;
  };
  struct DenseBlock {
    int64_t first = 0, columns = 0;
    Buffer<float> values;  // [n,columns] standardised
  };
  void learn_columns(const ProbeBlock& block, std::span<const int32_t> ids, int64_t first);
  Buffer<float> standardised(const Features& features, std::span<const int32_t> ids, int64_t first) const;

  int64_t rows_, columns_;
  Threads threads_;
  bool dense_form_ = false;           // all in one dense block
  std::vector<double> mean_, scale_;  // [D] standardised: (x - mean) scale; scale 0: the column never changes
  std::vector<SparseBlock> sparse_;
  std::vector<DenseBlock> dense_;
};

}  // namespace graphpae
