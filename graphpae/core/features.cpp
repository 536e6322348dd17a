#include "graphpae/core/features.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graphpae/core/error.h"

namespace graphpae {
namespace {

void check_shape(int64_t rows, int64_t columns) {
  if (rows < 0 || columns < 0 || columns > INT32_MAX) {
    throw data_error(fmt::format("a feature matrix of {} x {} is not possible", rows, columns));
  }
}

}  // namespace

Features Features::dense(int64_t rows, int64_t columns, Buffer<float> values) {
  check_shape(rows, columns);
  if (static_cast<int64_t>(values.size()) != rows * columns) {
    throw data_error(fmt::format("{} feature values do not fill {} x {}", values.size(), rows, columns));
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (!std::isfinite(values[i])) {
      throw data_error(
          fmt::format("row {}, column {}: the value {} is not finite", i / columns, i % columns, values[i]));
    }
  }
  Features result;
  result.rows_ = rows;
  result.columns_ = columns;
  result.dense_ = std::move(values);
  return result;
}

Features Features::sparse(int64_t rows, int64_t columns, std::vector<int64_t> offsets, std::vector<int32_t> indices,
                          std::vector<float> values) {
  check_shape(rows, columns);
  if (static_cast<int64_t>(offsets.size()) != rows + 1 || offsets.front() != 0) {
    throw data_error(fmt::format("{} row offsets were found, expected {} starting at 0", offsets.size(), rows + 1));
  }
  if (indices.size() != values.size() || offsets.back() != static_cast<int64_t>(indices.size())) {
    throw data_error(fmt::format("row offsets end at {}, but there are {} column indices and {} values", offsets.back(),
                                 indices.size(), values.size()));
  }
  // Canonical rows are written over the input from the front: they are never longer.
  std::vector<std::pair<int32_t, float>> row_entries;
  int64_t kept = 0;
  int64_t begin = 0;
  for (int64_t row = 0; row < rows; ++row) {
    const int64_t end = offsets[row + 1];
    if (end < begin || end > static_cast<int64_t>(indices.size())) {
      throw data_error(fmt::format("row {}: offsets go from {} to {}", row, begin, end));
    }
    row_entries.clear();
    for (int64_t i = begin; i < end; ++i) {
      if (indices[i] < 0 || indices[i] >= columns) {
        throw data_error(fmt::format("row {}: column {} is outside 0..{}", row, indices[i], columns - 1));
      }
      if (!std::isfinite(values[i])) {
        throw data_error(fmt::format("row {}, column {}: the value {} is not finite", row, indices[i], values[i]));
      }
      row_entries.emplace_back(indices[i], values[i]);
    }
    std::stable_sort(row_entries.begin(), row_entries.end(),
                     [](const auto& a, const auto& b) { return a.first < b.first; });
    const int64_t row_start = kept;
    for (size_t i = 0; i < row_entries.size();) {
      const int32_t column = row_entries[i].first;
      float sum = 0;
      for (; i < row_entries.size() && row_entries[i].first == column; ++i) sum += row_entries[i].second;
      if (sum == 0) continue;
      if (!std::isfinite(sum))
        throw data_error(fmt::format("row {}, column {}: the sum of repeated values overflows", row, column));
      indices[kept] = column;
      values[kept++] = sum;
    }
    begin = end;
    offsets[row] = row_start;
  }
  offsets[rows] = kept;
  indices.resize(kept);
  values.resize(kept);

  Features result;
  result.rows_ = rows;
  result.columns_ = columns;
  result.is_sparse_ = true;
  result.offsets_ = std::move(offsets);
  result.indices_ = std::move(indices);
  result.values_ = std::move(values);
  return result;
}

Features Features::compact(int64_t rows, int64_t columns, Buffer<float> values) {
  Features whole = dense(rows, columns, std::move(values));
  if (whole.nonzeros() * 4 >= rows * columns) return whole;
  std::vector<int64_t> offsets(1, 0);
  std::vector<int32_t> indices;
  std::vector<float> nonzeros;
  for (int64_t row = 0; row < rows; ++row) {
    const auto entries = whole.dense_row(row);
    for (int64_t c = 0; c < columns; ++c) {
      if (entries[c] == 0) continue;
      indices.push_back(static_cast<int32_t>(c));
      nonzeros.push_back(entries[c]);
    }
    offsets.push_back(static_cast<int64_t>(indices.size()));
  }
  return sparse(rows, columns, std::move(offsets), std::move(indices), std::move(nonzeros));
}

Features Features::gather(std::span<const int32_t> nodes) const {
  Features result;
  result.rows_ = static_cast<int64_t>(nodes.size());
  result.columns_ = columns_;
  result.is_sparse_ = is_sparse_;
  if (is_sparse_) {
    result.offsets_ = {0};
    for (const int32_t node : nodes) {
      const SparseRow row = sparse_row(node);
      result.indices_.insert(result.indices_.end(), row.columns.begin(), row.columns.end());
      result.values_.insert(result.values_.end(), row.values.begin(), row.values.end());
      result.offsets_.push_back(static_cast<int64_t>(result.values_.size()));
    }
  } else {
    result.dense_.resize(static_cast<size_t>(result.rows_ * columns_));
    float* to = result.dense_.data();
    for (const int32_t node : nodes) to = std::copy_n(dense_row(node).data(), columns_, to);
  }
  return result;
}

int64_t Features::nonzeros() const {
  if (is_sparse_) return static_cast<int64_t>(values_.size());
  return static_cast<int64_t>(dense_.size()) - std::count(dense_.begin(), dense_.end(), 0.0f);
}

int64_t Features::empty_rows() const {
  int64_t empty = 0;
  for (int64_t row = 0; row < rows_; ++row) {
    if (is_sparse_) {
      empty += offsets_[row] == offsets_[row + 1];
    } else {
      const auto values = dense_row(row);
      empty += std::all_of(values.begin(), values.end(), [](float value) { return value == 0; });
    }
  }
  return empty;
}

}  // namespace graphpae
