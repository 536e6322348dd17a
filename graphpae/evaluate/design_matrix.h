// DesignMatrix: the rows that probes see, dense or sparse, with the two products that training needs. Products have the
// same bits for any number of threads, and a column of a product does not depend on how many columns there are.
#pragma once

#include <cstdint>
#include <span>

#include "graphpae/core/features.h"
#include "graphpae/core/threads.h"
#include "graphpae/kernels/sparse_product.h"

namespace graphpae {

class DesignMatrix {
 public:
  // X [rows,columns]: the rows `chosen` of `features`, in that order.
  DesignMatrix(const Features& features, std::span<const int32_t> chosen, Threads threads);

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }

  // out = X w + bias: w [columns,n], bias [n], out [rows,n].
  void forward(const float* w, const float* bias, int64_t n, float* out) const;
  // d_w = X^T g: g [rows,n], d_w [columns,n]. Only the first `used` rows of g may differ from zero.
  void backward(const float* g, int64_t n, int64_t used, float* d_w) const;

 private:
  int64_t rows_, columns_;
  Threads threads_;
  bool is_sparse_;
  Buffer<float> dense_;            // [rows,columns], dense only
  kernels::CorruptedRows sparse_;  // sparse only
};

}  // namespace graphpae
