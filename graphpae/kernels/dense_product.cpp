#include "graphpae/kernels/dense_product.h"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "graphpae/core/buffer.h"
#include "graphpae/kernels/product_blocks.h"
#include "graphpae/kernels/row_ranges.h"
#include "graphpae/kernels/tile_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/dense_product.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graphpae/kernels/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {

// The sums of a tile of the output fill most registers: 12 of 16, or 24 of 32. A tile of B of kMostDepth terms stays in
// the L1 cache or near it, kPackedRows rows of A in half of an L2 cache of 512 KB.
#if HWY_TARGET <= HWY_AVX3
constexpr int kTileRows = 12;
#else
constexpr int kTileRows = 6;
#endif
static_assert(kPackedRows % kTileRows == 0 && kTileRowsUnit % kTileRows == 0);

HWY_INLINE int64_t TileColumns() { return 2 * static_cast<int64_t>(hn::Lanes(FullTag())); }

// c [kTileRows, kVectors vectors] = (c +) a b (+ bias) for `depth` terms: a is packed as [depth, kTileRows] or, if
// kByRows, has rows a_stride apart; b is packed as [depth, 2 vectors] of which the first kVectors are read. All loops
// over rows are unrolled, so that sums stay in registers.
template <int kVectors, bool kByRows>
HWY_INLINE void Tile(int64_t depth, const float* HWY_RESTRICT a, int64_t a_stride, const float* HWY_RESTRICT b,
                     bool accumulate, const float* bias, float* HWY_RESTRICT c, int64_t stride) {
  const FullTag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<FullTag> sums[kTileRows][kVectors];
#pragma GCC unroll 12
  for (int r = 0; r < kTileRows; ++r) {
    for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Zero(d);
    hwy::Prefetch(c + r * stride);
  }
  // Every third row has a pointer: with a_stride and its double, all rows can be addressed from few registers.
  const float* thirds[kTileRows / 3];
  for (int r = 0; r < kTileRows; r += 3) thirds[r / 3] = a + r * a_stride;
  for (int64_t l = 0; l < depth; ++l) {
    hn::Vec<FullTag> terms[kVectors];
    for (int v = 0; v < kVectors; ++v) terms[v] = hn::Load(d, b + v * lanes);
#pragma GCC unroll 12
    for (int r = 0; r < kTileRows; ++r) {
      const auto value = hn::Set(d, kByRows ? thirds[r / 3][l + r % 3 * a_stride] : a[r]);
      for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::MulAdd(value, terms[v], sums[r][v]);
    }
    if (!kByRows) a += kTileRows;
    b += 2 * lanes;
  }
  if (accumulate) {
#pragma GCC unroll 12
    for (int r = 0; r < kTileRows; ++r) {
      for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Add(sums[r][v], hn::LoadU(d, c + r * stride + v * lanes));
    }
  }
  if (bias != nullptr) {
    hn::Vec<FullTag> shifts[kVectors];
    for (int v = 0; v < kVectors; ++v) shifts[v] = hn::LoadU(d, bias + v * lanes);
#pragma GCC unroll 12
    for (int r = 0; r < kTileRows; ++r) {
      for (int v = 0; v < kVectors; ++v) sums[r][v] = hn::Add(sums[r][v], shifts[v]);
    }
  }
#pragma GCC unroll 12
  for (int r = 0; r < kTileRows; ++r) {
    for (int v = 0; v < kVectors; ++v) hn::StoreU(sums[r][v], d, c + r * stride + v * lanes);
  }
}

// `wide`: both vectors of columns, or the first one alone.
HWY_INLINE void AnyTile(bool wide, bool by_rows, int64_t depth, const float* a, int64_t a_stride, const float* b,
                        bool accumulate, const float* bias, float* c, int64_t stride) {
  if (wide) {
    by_rows ? Tile<2, true>(depth, a, a_stride, b, accumulate, bias, c, stride)
            : Tile<2, false>(depth, a, a_stride, b, accumulate, bias, c, stride);
  } else {
    by_rows ? Tile<1, true>(depth, a, a_stride, b, accumulate, bias, c, stride)
            : Tile<1, false>(depth, a, a_stride, b, accumulate, bias, c, stride);
  }
}

// out[l * width + q] = source[q * stride + l] for q < count, l < depth, and 0 for q in [count, width).
HWY_INLINE void PackTransposed(const float* source, int64_t stride, int64_t count, int64_t depth, int64_t width,
                               float* out) {
  Transpose(source, stride, count, depth, out, width);
  for (int64_t q = count; q < width; ++q) {
    for (int64_t l = 0; l < depth; ++l) out[l * width + q] = 0;
  }
}

// out[l * width + q] = source[l * stride + q] for q < count, l < depth, and 0 for q in [count, width).
HWY_INLINE void PackPlain(const float* source, int64_t stride, int64_t count, int64_t depth, int64_t width,
                          float* out) {
  for (int64_t l = 0; l < depth; ++l) {
    const float* from = source + l * stride;
    float* to = out + l * width;
    for_elements(0, count, [&](auto d, int64_t q) HWY_ATTR { hn::StoreU(hn::LoadU(d, from + q), d, to + q); });
    for (int64_t q = count; q < width; ++q) to[q] = 0;
  }
}

// One block of C. packed_a and packed_b hold the parts of A and B at hand, tile by tile. A sum is made of runs of terms
// in order, of lengths that depend on k only: its bits do not depend on the block or tile it is in.
void ProductBlock(const MatrixView& a, const MatrixView& b, int64_t k, const Block& block, bool accumulate,
                  const float* bias, float* c, int64_t c_stride, float* packed_a, float* packed_b) {
  constexpr int64_t rows = kTileRows;
  const int64_t columns = TileColumns();
  const int64_t runs = (k + kMostDepth - 1) / kMostDepth, run = (k + runs - 1) / runs;  // none much shorter than others
  // Rows of A are read where they are, unless they are a power of two apart: then they would drive each other out of
  // the L1 cache.
  const bool readable = a.form == Form::kPlain && a.stride % 256 != 0;
  HWY_ALIGN float edge[kTileRows * kTileColumnsUnit];
  for (int64_t column = block.column; column < block.column + block.columns; column += kPackedColumns) {
    const int64_t width = std::min(kPackedColumns, block.column + block.columns - column);
    for (int64_t l = 0; l < k; l += run) {
      const int64_t depth = std::min(run, k - l);
      for (int64_t j = 0; j < width; j += columns) {
        const int64_t count = std::min(columns, width - j);
        if (b.form == Form::kPlain) {
          PackPlain(b.data + l * b.stride + column + j, b.stride, count, depth, columns, packed_b + j * depth);
        } else {
          PackTransposed(b.data + (column + j) * b.stride + l, b.stride, count, depth, columns, packed_b + j * depth);
        }
      }
      for (int64_t row = block.row; row < block.row + block.rows; row += kPackedRows) {
        const int64_t height = std::min(kPackedRows, block.row + block.rows - row);
        for (int64_t i = 0; i < height; i += rows) {
          const int64_t count = std::min(rows, height - i);
          if (readable && count == rows) continue;
          if (a.form == Form::kPlain) {
            PackTransposed(a.data + (row + i) * a.stride + l, a.stride, count, depth, rows, packed_a + i * depth);
          } else {
            PackPlain(a.data + l * a.stride + row + i, a.stride, count, depth, rows, packed_a + i * depth);
          }
        }
        for (int64_t j = 0; j < width; j += columns) {
          for (int64_t i = 0; i < height; i += rows) {
            float* out = c + (row + i) * c_stride + column + j;
            const bool by_rows = readable && i + rows <= height;
            const float* tile_a = by_rows ? a.data + (row + i) * a.stride + l : packed_a + i * depth;
            const float* tile_b = packed_b + j * depth;
            const float* tile_bias = bias != nullptr && l + depth == k ? bias + column + j : nullptr;
            const bool add = accumulate || l > 0;
            if (i + rows <= height && j + columns <= width) {
              AnyTile(true, by_rows, depth, tile_a, a.stride, tile_b, add, tile_bias, out, c_stride);
              continue;
            }
            AnyTile(width - j > columns / 2, by_rows, depth, tile_a, a.stride, tile_b, false, nullptr, edge, columns);
            for (int64_t r = 0; r < std::min(rows, height - i); ++r) {
              for (int64_t q = 0; q < std::min(columns, width - j); ++q) {
                float sum = edge[r * columns + q];
                if (add) sum += out[r * c_stride + q];
                out[r * c_stride + q] = tile_bias == nullptr ? sum : sum + tile_bias[q];
              }
            }
          }
        }
      }
    }
  }
}

}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {

HWY_EXPORT(ProductBlock);

namespace {

constexpr int64_t kMirrorTile = 32;

int64_t round_up(int64_t a, int64_t unit) { return divide_up(a, unit) * unit; }

// One thread's place to make blocks of C, of at most so many rows and columns.
class Workbench {
 public:
  Workbench(bool tiles, int64_t rows, int64_t columns, int64_t k)
      : depth_(tiles ? 0 : std::min(k, kMostDepth)),
        packed_a_(depth_ * round_up(std::min(rows, kPackedRows), kTileRowsUnit)),
        packed_b_(depth_ * round_up(std::min(columns, kPackedColumns), kTileColumnsUnit)) {
    if (tiles) tiles_.emplace(columns, k);
  }

  void product(const MatrixView& a, const MatrixView& b, int64_t k, const Block& block, bool accumulate,
               const float* bias, float* c, int64_t c_stride) {
    if (tiles_) return tile_product(a, b, k, block, accumulate, bias, c, c_stride, *tiles_);
    HWY_DYNAMIC_DISPATCH(ProductBlock)
    (a, b, k, block, accumulate, bias, c, c_stride, packed_a_.data(), packed_b_.data());
  }

 private:
  int64_t depth_;
  AlignedArray<float> packed_a_, packed_b_;
  std::optional<TileScratch> tiles_;
};

void run_blocks(const MatrixView& a, const MatrixView& b, int64_t n, int64_t k, const std::vector<Block>& blocks,
                float* c, int64_t c_stride, const ProductOptions& options, Threads threads) {
  const bool tiles = options.tiles && tiles_pay(n, k);
  int64_t rows = 0, columns = 0;
  for (const Block& block : blocks) {
    rows = std::max(rows, block.rows);
    columns = std::max(columns, block.columns);
  }
  const int64_t count = static_cast<int64_t>(blocks.size());
  const auto make_bench = [&] { return Workbench(tiles, rows, columns, k); };
  for_parts(count, team_for(count, threads), 1, make_bench, [&](int64_t i, Workbench& bench) {
    bench.product(a, b, k, blocks[i], options.accumulate, options.bias, c, c_stride);
  });
}

// Into how many parts the long sums of a small C = A^T B are divided: enough blocks of C for all threads would be so
// small that packing A and B again for each costs more. Other products are not: a row of A has the same bits in any
// company.
int64_t depth_parts(const MatrixView& a, int64_t m, int64_t n, int64_t k) {
  constexpr int64_t kPartDepth = 4096, kMostParts = 8, kMostElements = int64_t{1} << 17;
  if (a.form == Form::kPlain || m * n > kMostElements) return 1;
  return std::clamp<int64_t>(k / kPartDepth, 1, kMostParts);
}

// The parts are those of k for any number of threads, and are added in order.
void divided_product(const MatrixView& a, const MatrixView& b, int64_t m, int64_t n, int64_t k, int64_t parts, float* c,
                     int64_t c_stride, const ProductOptions& options, Threads threads) {
  AlignedArray<float> sums(parts * m * n);
  const bool tiles = options.tiles && tiles_pay(n, k);
  const auto make_bench = [&] { return Workbench(tiles, m, n, k); };
  for_parts(parts, team_for(parts, threads), 1, make_bench, [&](int64_t part, Workbench& bench) {
    const int64_t first = k * part / parts, last = k * (part + 1) / parts;
    MatrixView part_a = a, part_b = b;
    part_a.data += first * a.stride;
    part_b.data += b.form == Form::kPlain ? first * b.stride : first;
    bench.product(part_a, part_b, last - first, {0, m, 0, n}, false, nullptr, sums.data() + part * m * n, n);
  });
  for_row_ranges(m, threads, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      float* row = c + i * c_stride;
      for (int64_t j = 0; j < n; ++j) {
        float sum = options.accumulate ? row[j] : 0.0f;
        for (int64_t part = 0; part < parts; ++part) sum += sums.data()[(part * m + i) * n + j];
        row[j] = options.bias == nullptr ? sum : sum + options.bias[j];
      }
    }
  });
}

// The product of no terms: zero, or what C holds, plus the bias.
void empty_product(int64_t m, int64_t n, const ProductOptions& options, float* c, int64_t c_stride) {
  for (int64_t i = 0; i < m; ++i) {
    float* row = c + i * c_stride;
    if (!options.accumulate) std::fill_n(row, n, 0.0f);
    for (int64_t j = 0; j < n && options.bias != nullptr; ++j) row[j] += options.bias[j];
  }
}

}  // namespace

void dense_product(MatrixView a, MatrixView b, int64_t m, int64_t n, int64_t k, float* c, int64_t c_stride,
                   const ProductOptions& options, Threads threads) {
  if (m <= 0 || n <= 0) return;
  if (k <= 0) return empty_product(m, n, options, c, c_stride);
  const int64_t parts = depth_parts(a, m, n, k);
  if (parts > 1) return divided_product(a, b, m, n, k, parts, c, c_stride, options, threads);
  run_blocks(a, b, n, k, output_blocks(m, n, threads), c, c_stride, options, threads);
}

void symmetric_product(MatrixView a, MatrixView b, int64_t n, int64_t k, float* c, int64_t c_stride, Threads threads) {
  if (n <= 0) return;
  if (k <= 0) return empty_product(n, n, {}, c, c_stride);
  run_blocks(a, b, n, k, triangle_blocks(n), c, c_stride, {}, threads);
  const int64_t tiles = divide_up(n, kMirrorTile);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads.count)
  for (int64_t tile = 0; tile < tiles; ++tile) {  // rows of the upper triangle that this tile owns
    const int64_t row_end = std::min(n, (tile + 1) * kMirrorTile);
    for (int64_t first = tile * kMirrorTile; first < n; first += kMirrorTile) {
      const int64_t end = std::min(n, first + kMirrorTile);
      for (int64_t i = tile * kMirrorTile; i < row_end; ++i) {
        for (int64_t j = std::max(first, i + 1); j < end; ++j) c[i * c_stride + j] = c[j * c_stride + i];
      }
    }
  }
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
