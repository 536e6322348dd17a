#include "graphpae/kernels/sparse_product.h"

#include <algorithm>

#include "graphpae/kernels/row_ranges.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/sparse_product.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graphpae/kernels/columns-inl.h"

#ifndef GRAPHPAE_KERNELS_SPARSE_PRODUCT_PANEL
#define GRAPHPAE_KERNELS_SPARSE_PRODUCT_PANEL
namespace graphpae::kernels {

// Columns whose sums stay in registers. 2000 rows of a panel fill half of an L2 cache of 512 KB.
constexpr int kPanelColumns = 32;

}  // namespace graphpae::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {

// out = start + sum over entries e of values[e] * matrix[indices[e], :] for kVectors vectors of columns, whose
// sums stay in registers over all entries.
template <class D, int kVectors>
HWY_INLINE void SumEntries(D d, const int32_t* HWY_RESTRICT indices, const float* HWY_RESTRICT values, int64_t count,
                           const float* HWY_RESTRICT matrix, int64_t stride, float start_left, const float* start_right,
                           float* HWY_RESTRICT out) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<D> sums[kVectors];
  for (int v = 0; v < kVectors; ++v) sums[v] = hn::Zero(d);
  if (start_right != nullptr) {
    const auto left = hn::Set(d, start_left);
    for (int v = 0; v < kVectors; ++v) sums[v] = hn::MulAdd(left, hn::LoadU(d, start_right + v * lanes), sums[v]);
  }
  for (int64_t e = 0; e < count; ++e) {
    const float* row = matrix + int64_t{indices[e]} * stride;
    const auto value = hn::Set(d, values[e]);
    for (int v = 0; v < kVectors; ++v) sums[v] = hn::MulAdd(value, hn::LoadU(d, row + v * lanes), sums[v]);
  }
  for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[v], d, out + v * lanes);
}

// Rows [first, last) of out, `width` columns. The rows of the matrix are `stride` apart, those of out `out_stride`.
void SparseRows(const int64_t* offsets, const int32_t* indices, const float* values, const float* matrix,
                int64_t stride, int64_t first, int64_t last, int64_t width, const RankOne& start, float* out,
                int64_t out_stride) {
  const FullTag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  constexpr int kVectors = std::max<int>(1, kPanelColumns / static_cast<int>(hn::MaxLanes(FullTag())));
  for (int64_t i = first; i < last; ++i) {
    const int32_t* row_indices = indices + offsets[i];
    const float* row_values = values + offsets[i];
    const int64_t count = offsets[i + 1] - offsets[i];
    const float left = start.left == nullptr ? 0.0f : start.left[i];
    float* row = out + i * out_stride;
    const auto right = [&](int64_t j) HWY_ATTR { return start.left == nullptr ? nullptr : start.right + j; };
    int64_t j = 0;
    for (; j + kVectors * lanes <= width; j += kVectors * lanes) {
      SumEntries<FullTag, kVectors>(d, row_indices, row_values, count, matrix + j, stride, left, right(j), row + j);
    }
    for (; j + lanes <= width; j += lanes) {
      SumEntries<FullTag, 1>(d, row_indices, row_values, count, matrix + j, stride, left, right(j), row + j);
    }
    for (; j < width; ++j) {
      SumEntries<OneTag, 1>(OneTag(), row_indices, row_values, count, matrix + j, stride, left, right(j), row + j);
    }
  }
}

// out = dropout(values).
void ShowRow(const float* values, const Dropout& dropout, int64_t node, int64_t columns, float* out) {
  RowKeeper keeper(dropout);
  keeper.start_row(node);
  for_columns(0, columns,
              [&](auto d, int64_t j) HWY_ATTR { hn::StoreU(keeper.drop(d, j, hn::LoadU(d, values + j)), d, out + j); });
}

}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {

HWY_EXPORT(SparseRows);
HWY_EXPORT(ShowRow);

namespace {

// out [rows, width] = sparse [rows, inner] times matrix [inner, width], plus what is asked for. Every element is summed
// in the order of the entries of its row, however the work is divided.
void sparse_times_dense(const int64_t* offsets, const int32_t* indices, const float* values, int64_t rows,
                        const float* matrix, int64_t inner, int64_t width, const RankOne& start, float* out,
                        Threads threads) {
  if (rows == 0 || width == 0) return;
  // Each row of the matrix is read about nonzeros / inner times. A panel of it that is copied into one piece stays in
  // the L2 cache; in place it would not, since rows that are 4 KB apart compete for the same few lines.
  constexpr int64_t kLeastReads = 4;
  const int64_t panels = (width + kPanelColumns - 1) / kPanelColumns;
  if (offsets[rows] >= kLeastReads * inner && panels > 1) {
    const auto make_panel = [&] { return Buffer<float>(inner * kPanelColumns); };
    return for_parts(panels, team_for(panels, threads), 1, make_panel, [&](int64_t p, Buffer<float>& panel) {
      const int64_t begin = p * kPanelColumns, count = std::min<int64_t>(kPanelColumns, width - begin);
      for (int64_t r = 0; r < inner; ++r) {
        std::copy_n(matrix + r * width + begin, count, panel.data() + r * kPanelColumns);
      }
      const RankOne part{start.left, start.left == nullptr ? nullptr : start.right + begin};
      HWY_DYNAMIC_DISPATCH(SparseRows)
      (offsets, indices, values, panel.data(), kPanelColumns, 0, rows, count, part, out + begin, width);
    });
  }
  constexpr int64_t kGroup = 32;
  const int64_t groups = (rows + kGroup - 1) / kGroup;
  for_parts(groups, team_for(groups, threads), 4, [&](int64_t group) {
    const int64_t first = group * kGroup;
    HWY_DYNAMIC_DISPATCH(SparseRows)
    (offsets, indices, values, matrix, width, first, std::min(rows, first + kGroup), width, start, out, width);
  });
}

// Columns and values of row i of X; returns how many. With null pointers it only counts.
int64_t corrupt_row(const SparseRow& row, int64_t i, const Dropout& dropout, int32_t* indices, float* values) {
  const int64_t count = static_cast<int64_t>(row.columns.size());
  if (!dropout.active()) {
    if (indices != nullptr) {
      std::copy(row.columns.begin(), row.columns.end(), indices);
      std::copy(row.values.begin(), row.values.end(), values);
    }
    return count;
  }
  const uint32_t row_hash = dropout_row_hash(dropout, i);
  const float scale = dropout.scale();
  int64_t kept = 0;
  for (size_t e = 0; e < row.columns.size(); ++e) {
    if (!keeps(dropout, row_hash, static_cast<uint32_t>(row.columns[e]))) continue;
    if (indices != nullptr) {
      indices[kept] = row.columns[e];
      values[kept] = row.values[e] * scale;
    }
    ++kept;
  }
  return kept;
}

// Fills the column form from the row form. The order of the entries (column, then row) does not depend on the parts.
void transpose_rows(CorruptedRows& x, Threads threads) {
  const int64_t parts = std::max<int64_t>(1, std::min<int64_t>(threads.count, x.rows / 256));
  x.column_offsets.resize(x.columns + 1);
  x.column_rows.resize(x.nonzeros());
  x.column_values.resize(x.nonzeros());
  x.places.resize(parts * x.columns);
  std::fill(x.places.begin(), x.places.end(), 0);
#pragma omp parallel for schedule(static, 1) num_threads(static_cast <int>(parts))
  for (int64_t part = 0; part < parts; ++part) {
    const auto [first, last] = part_of(x.rows, part, parts);
    int64_t* counts = x.places.data() + part * x.columns;
    for (int64_t e = x.offsets[first]; e < x.offsets[last]; ++e) {
      ++counts[x.indices[e]];
    }
  }
  int64_t place = 0;
  for (int64_t column = 0; column < x.columns; ++column) {
    x.column_offsets[column] = place;
    for (int64_t part = 0; part < parts; ++part) {
      int64_t& entry = x.places[part * x.columns + column];
      const int64_t count = entry;
      entry = place;
      place += count;
    }
  }
  x.column_offsets[x.columns] = place;
#pragma omp parallel for schedule(static, 1) num_threads(static_cast <int>(parts))
  for (int64_t part = 0; part < parts; ++part) {
    const auto [first, last] = part_of(x.rows, part, parts);
    int64_t* places = x.places.data() + part * x.columns;
    for (int64_t i = first; i < last; ++i) {
      for (int64_t e = x.offsets[i]; e < x.offsets[i + 1]; ++e) {
        const int64_t to = places[x.indices[e]]++;
        x.column_rows[to] = static_cast<int32_t>(i);
        x.column_values[to] = x.values[e];
      }
    }
  }
}

}  // namespace

void build_corrupted_rows(const Features& features, std::span<const int32_t> row_map, const Dropout& dropout,
                          CorruptedRows& out, Threads threads) {
  const int64_t n = static_cast<int64_t>(row_map.size());
  out.rows = n;
  out.columns = features.columns();
  out.offsets.resize(n + 1);
  out.offsets[0] = 0;
#pragma omp parallel for schedule(static) num_threads(threads.count)
  for (int64_t i = 0; i < n; ++i) {
    const int32_t row = row_map[i];
    out.offsets[i + 1] = row < 0 ? 0 : corrupt_row(features.sparse_row(row), i, dropout, nullptr, nullptr);
  }
  for (int64_t i = 0; i < n; ++i) out.offsets[i + 1] += out.offsets[i];
  out.indices.resize(out.nonzeros());
  out.values.resize(out.nonzeros());
#pragma omp parallel for schedule(static) num_threads(threads.count)
  for (int64_t i = 0; i < n; ++i) {
    const int32_t row = row_map[i];
    const int64_t offset = out.offsets[i];
    if (row >= 0) {
      corrupt_row(features.sparse_row(row), i, dropout, out.indices.data() + offset, out.values.data() + offset);
    }
  }
  transpose_rows(out, threads);
}

void build_corrupted_dense(const Features& features, std::span<const int32_t> row_map, const Dropout& dropout,
                           float* out, Threads threads) {
  const int64_t n = static_cast<int64_t>(row_map.size()), f = features.columns();
  for_row_ranges(n, threads, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int32_t row = row_map[i];
      if (row < 0) {
        std::fill_n(out + i * f, f, 0.0f);
      } else {
        HWY_DYNAMIC_DISPATCH(ShowRow)(features.dense_row(row).data(), dropout, i, f, out + i * f);
      }
    }
  });
}

void csr_product(const CorruptedRows& x, const float* w, int64_t d, float* y, Threads threads) {
  sparse_times_dense(x.offsets.data(), x.indices.data(), x.values.data(), x.rows, w, x.columns, d, {}, y, threads);
}

void csc_product(const CorruptedRows& x, const float* d_y, int64_t d, float* d_w, Threads threads, RankOne start) {
  sparse_times_dense(x.column_offsets.data(), x.column_rows.data(), x.column_values.data(), x.columns, d_y, x.rows, d,
                     start, d_w, threads);
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
