// Features: the node feature matrix X [N, F] in float32, dense or sparse. A sparse matrix is never
// made dense. Values are finite and sparse rows are canonical (columns ascending, no repeats, no stored
// zeros): checked once, here.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "graphpae/core/buffer.h"

namespace graphpae {

struct SparseRow {
  std::span<const int32_t> columns;
  std::span<const float> values;
};

class Features {
 public:
  Features() = default;  // no features: N x 0

  // values [rows * columns], row-major. Throws a data error that names the row and column of a value
  // that is not finite.
  static Features dense(int64_t rows, int64_t columns, Buffer<float> values);

  // offsets [rows+1], indices and values [offsets[rows]]. Rows may be unsorted; repeated columns of a
  // row are added up. Throws a data error for bad offsets, columns out of range, values not finite.
  static Features sparse(int64_t rows, int64_t columns, std::vector<int64_t> offsets, std::vector<int32_t> indices,
                         std::vector<float> values);

  // Sparse if less than a quarter of the values differ from zero, otherwise dense.
  static Features compact(int64_t rows, int64_t columns, Buffer<float> values);

  int64_t rows() const { return rows_; }
  int64_t columns() const { return columns_; }
  bool is_sparse() const { return is_sparse_; }
  int64_t nonzeros() const;

  std::span<const float> dense_values() const { return dense_; }  // [rows * columns], dense only
  std::span<const int64_t> offsets() const { return offsets_; }   // [rows+1], sparse only
  std::span<const int32_t> indices() const { return indices_; }   // [nonzeros], sparse only
  std::span<const float> values() const { return values_; }       // [nonzeros], sparse only

  std::span<const float> dense_row(int64_t row) const {
    return {dense_.data() + row * columns_, static_cast<size_t>(columns_)};
  }
  SparseRow sparse_row(int64_t row) const {
    const size_t count = offsets_[row + 1] - offsets_[row];
    return {{indices_.data() + offsets_[row], count}, {values_.data() + offsets_[row], count}};
  }

  // Writes a row, zeros and all, to `to` [columns] of float or double.
  template <class T>
  void copy_row(int64_t row, T* to) const {
    if (!is_sparse_) return void(std::copy_n(dense_row(row).data(), columns_, to));
    std::fill_n(to, columns_, T{0});
    const SparseRow sparse = sparse_row(row);
    for (size_t k = 0; k < sparse.columns.size(); ++k) to[sparse.columns[k]] = sparse.values[k];
  }

  // The rows at `nodes`, in that order.
  Features gather(std::span<const int32_t> nodes) const;

  // How many rows have no non-zero value.
  int64_t empty_rows() const;

 private:
  int64_t rows_ = 0;
  int64_t columns_ = 0;
  bool is_sparse_ = false;
  Buffer<float> dense_;
  std::vector<int64_t> offsets_;
  std::vector<int32_t> indices_;
  std::vector<float> values_;
};

}  // namespace graphpae
