#include "graphpae/positions/panel_matrix.h"

#include <fmt/format.h>
#include <omp.h>

#include <algorithm>

#include "graphpae/core/error.h"
#include "graphpae/kernels/row_ranges.h"

namespace graphpae {
namespace {

// Rows in one partial sum. It depends on the number of rows only, never on the threads.
constexpr int64_t kMaxRanges = 64;
constexpr int64_t kMinRangeRows = 256;

// Rows handled at once: w's part stays in the first-level cache, the basis's part in the second.
constexpr int64_t kTileRows = 128;

struct RowRanges {
  explicit RowRanges(int64_t total) : rows(total) {
    const int64_t even = (total + kMaxRanges - 1) / kMaxRanges;
    length = std::max(kMinRangeRows, (even + kTileRows - 1) / kTileRows * kTileRows);
    count = (total + length - 1) / length;
  }
  int64_t begin(int64_t index) const { return index * length; }
  int64_t end(int64_t index) const { return std::min(rows, (index + 1) * length); }

  int64_t rows, length, count;
};

// Runs body(range, row, rows) for all tiles of rows, those of a range in order.
template <class Body>
void for_tiles(const RowRanges& ranges, Threads threads, const Body& body) {
  kernels::for_parts(ranges.count, threads.count, [&](int64_t range) {
    for (int64_t row = ranges.begin(range); row < ranges.end(range); row += kTileRows)
      body(range, row, std::min(kTileRows, ranges.end(range) - row));
  });
}

template <class T>
std::vector<T> converted(const std::vector<double>& values, double factor) {
  std::vector<T> result(values.size());
  for (size_t i = 0; i < values.size(); ++i) result[i] = static_cast<T>(factor * values[i]);
  return result;
}

// The sum of `count` arrays of `size` values, in order.
PanelBlocks ordered_sum(const std::vector<double>& partial, int64_t count, int64_t size) {
  PanelBlocks total(size, 0.0);
  for (int64_t part = 0; part < count; ++part) {
    const double* values = partial.data() + part * size;
    for (int64_t i = 0; i < size; ++i) total[i] += values[i];
  }
  return total;
}

}  // namespace

template <class T>
PanelMatrix<T>::PanelMatrix(int64_t rows, int64_t panels) : rows_(rows), panels_(panels) {
  const size_t bytes = std::max<size_t>(1, static_cast<size_t>(rows * panels * kPanel) * sizeof(T));
  void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) {
    throw memory_error(fmt::format("no memory for {} x {} numbers ({:.1f} GB)", rows, panels * kPanel, 1e-9 * bytes));
  }
  madvise(memory, bytes, MADV_HUGEPAGE);  // the gathers of a matrix product miss the TLB otherwise
  data_ = std::unique_ptr<T, Unmap>(static_cast<T*>(memory), Unmap{bytes});
}

template <class T>
PanelBlocks project(const PanelMatrix<T>& basis, PanelRange range, const T* w, Threads threads) {
  const RowRanges ranges(basis.rows());
  const int64_t size = range.count() * kBlockSize;
  std::vector<double> partial(ranges.count * size, 0.0);
  for_tiles(ranges, threads, [&](int64_t part, int64_t row, int64_t rows) {
    double* sums = partial.data() + part * size;
    for (int64_t p = range.first; p < range.last; ++p, sums += kBlockSize)
      kernels::panel_gram(basis.panel(p) + row * kPanel, w + row * kPanel, rows, sums);
  });
  return ordered_sum(partial, ranges.count, size);
}

template <class T>
void subtract(const PanelMatrix<T>& basis, PanelRange range, const PanelBlocks& coefficients, T* w, Threads threads) {
  const RowRanges ranges(basis.rows());
  const std::vector<T> factor = converted<T>(coefficients, -1.0);
  for_tiles(ranges, threads, [&](int64_t, int64_t row, int64_t rows) {
    const T* block = factor.data();
    for (int64_t p = range.first; p < range.last; ++p, block += kBlockSize)
      kernels::panel_add_product(basis.panel(p) + row * kPanel, block, rows, w + row * kPanel);
  });
}

template <class T>
PanelBlocks gram(const T* w, int64_t rows, Threads threads) {
  const RowRanges ranges(rows);
  std::vector<double> partial(ranges.count * kBlockSize, 0.0);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads.count)
  for (int64_t range = 0; range < ranges.count; ++range) {
    const int64_t row = ranges.begin(range);
    kernels::panel_gram(w + row * kPanel, w + row * kPanel, ranges.end(range) - row,
                        partial.data() + range * kBlockSize);
  }
  return ordered_sum(partial, ranges.count, kBlockSize);
}

template <class T>
void multiply_panel(T* w, int64_t rows, const PanelBlocks& factor, Threads threads) {
  const RowRanges ranges(rows);
  const std::vector<T> values = converted<T>(factor, 1.0);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads.count)
  for (int64_t range = 0; range < ranges.count; ++range) {
    alignas(64) T tile[kTileRows * kPanel];
    for (int64_t row = ranges.begin(range); row < ranges.end(range); row += kTileRows) {
      const int64_t tile_rows = std::min(kTileRows, ranges.end(range) - row);
      std::copy_n(w + row * kPanel, tile_rows * kPanel, tile);
      std::fill_n(w + row * kPanel, tile_rows * kPanel, T{0});
      kernels::panel_add_product(tile, values.data(), tile_rows, w + row * kPanel);
    }
  }
}

template <class T>
void rotate(PanelMatrix<T>& basis, int64_t from, int64_t to, const std::vector<double>& factor, Threads threads) {
  const RowRanges ranges(basis.rows());
  std::vector<T> blocks(from * to * kBlockSize);  // factor cut into blocks, those of one result together
  for (int64_t q = 0; q < to; ++q) {
    for (int64_t p = 0; p < from; ++p) {
      T* block = blocks.data() + (q * from + p) * kBlockSize;
      for (int64_t r = 0; r < kPanel; ++r) {
        for (int64_t c = 0; c < kPanel; ++c) {
          block[r * kPanel + c] = static_cast<T>(factor[(p * kPanel + r) * to * kPanel + q * kPanel + c]);
        }
      }
    }
  }
  std::vector<PanelMatrix<T>> tiles;  // one per thread
  for (int t = 0; t < threads.count; ++t) tiles.emplace_back(kTileRows, to);
  kernels::for_parts(ranges.count, threads.count, [&](int64_t range) {
    PanelMatrix<T>& tile = tiles[omp_get_thread_num()];
    for (int64_t row = ranges.begin(range); row < ranges.end(range); row += kTileRows) {
      const int64_t rows = std::min(kTileRows, ranges.end(range) - row);
      for (int64_t q = 0; q < to; ++q) {
        std::fill_n(tile.panel(q), rows * kPanel, T{0});
        for (int64_t p = 0; p < from; ++p) {
          kernels::panel_add_product(basis.panel(p) + row * kPanel, blocks.data() + (q * from + p) * kBlockSize, rows,
                                     tile.panel(q));
        }
      }
      for (int64_t q = 0; q < to; ++q) std::copy_n(tile.panel(q), rows * kPanel, basis.panel(q) + row * kPanel);
    }
  });
}

#define GRAPHPAE_INSTANTIATE(T)                                                               \
  template class PanelMatrix<T>;                                                              \
  template PanelBlocks project(const PanelMatrix<T>&, PanelRange, const T*, Threads);         \
  template void subtract(const PanelMatrix<T>&, PanelRange, const PanelBlocks&, T*, Threads); \
  template PanelBlocks gram(const T*, int64_t, Threads);                                      \
  template void multiply_panel(T*, int64_t, const PanelBlocks&, Threads);                     \
  template void rotate(PanelMatrix<T>&, int64_t, int64_t, const std::vector<double>&, Threads);
GRAPHPAE_INSTANTIATE(float)
GRAPHPAE_INSTANTIATE(double)
#undef GRAPHPAE_INSTANTIATE

}  // namespace graphpae
