#include "graphpae/evaluate/design_matrix.h"

#include <algorithm>

#include "graphpae/kernels/dense_product.h"

namespace graphpae {

DesignMatrix::DesignMatrix(const Features& features, std::span<const int32_t> chosen, Threads threads)
    : rows_(static_cast<int64_t>(chosen.size())),
      columns_(features.columns()),
      threads_(threads),
      is_sparse_(features.is_sparse()) {
  if (is_sparse_) {
    kernels::build_corrupted_rows(features, chosen, kernels::Dropout{}, sparse_, threads_);
    return;
  }
  dense_.resize(static_cast<size_t>(rows_ * columns_));
  for (int64_t i = 0; i < rows_; ++i) features.copy_row(chosen[i], dense_.data() + i * columns_);
}

void DesignMatrix::forward(const float* w, const float* bias, int64_t n, float* out) const {
  if (!is_sparse_) {
    kernels::dense_product(kernels::plain(dense_.data(), columns_), kernels::plain(w, n), rows_, n, columns_, out, n,
                           {.bias = bias}, threads_);
    return;
  }
  kernels::csr_product(sparse_, w, n, out, threads_);
  for (int64_t i = 0; i < rows_; ++i) {
    for (int64_t j = 0; j < n; ++j) out[i * n + j] += bias[j];
  }
}

void DesignMatrix::backward(const float* g, int64_t n, int64_t used, float* d_w) const {
  if (is_sparse_) return kernels::csc_product(sparse_, g, n, d_w, threads_);
  kernels::dense_product(kernels::transposed(dense_.data(), columns_), kernels::plain(g, n), columns_, n, used, d_w, n,
                         {}, threads_);
}

}  // namespace graphpae
