#include "graphpae/kernels/token_product.h"

#include <algorithm>

#include "graphpae/core/buffer.h"
#include "graphpae/kernels/narrow_product.h"
#include "graphpae/kernels/row_ops.h"
#include "graphpae/kernels/row_ranges.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/token_product.cpp"
#include <hwy/cache_control.h>
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graphpae/kernels/columns-inl.h"

#ifndef GRAPHPAE_KERNELS_TOKEN_PRODUCT_TYPES
#define GRAPHPAE_KERNELS_TOKEN_PRODUCT_TYPES
namespace graphpae::kernels {
namespace {

// The tables of a sweep (24 KB) stay in an L1 cache of 32 KB, the sums of a tile (up to 384 KB) in an L2 cache of
// 512 KB.
constexpr int kColumns = 16;               // of a block: an entry of a table is a cache line
constexpr int kBits = 6;                   // sources of a table
constexpr int kEntries = 1 << kBits;       // subset sums of a table
constexpr int kTables = 6;                 // of a sweep: they share one pass over the sums
constexpr int kSources = kBits * kTables;  // of a sweep
constexpr int kUnitColumns = 64;  // of a unit of work: blocks that are neighbours in memory and share the codes
constexpr int64_t kTileTargets = 1536;

// A code holds the bits of the sources of a sweep for one target, shifted so that the bits of a table, masked, are the
// offset of an entry in floats.
constexpr int kCodeShift = 4;
static_assert(1 << kCodeShift == kColumns && kUnitColumns % kColumns == 0 && kSources + kCodeShift <= 64);

// Sources s = 0 .. count-1 are the rows factor[s] * data[rows[s],:]; null factors are 1, null rows are s.
struct Sources {
  int64_t count = 0;
  const float* data = nullptr;
  const int32_t* rows = nullptr;
  const float* factors = nullptr;
  int64_t stride = 0;

  const float* row(int64_t s) const { return data + (rows == nullptr ? s : int64_t{rows[s]}) * stride; }
};

}  // namespace
}  // namespace graphpae::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {

using Tag = hn::CappedTag<float, kColumns>;

// keeps() of each of the sources [first, last), up to 32, as one bit of each target. It hashes the sum of two numbers,
// one of the row and one of the column.
template <class DU>
HWY_INLINE hn::Vec<DU> KeepBits(DU du, const uint32_t* source_hash, int64_t first, int64_t last,
                                const uint32_t* target_hash, uint32_t threshold) {
  const auto target = hn::LoadU(du, target_hash);
  auto bits = hn::Zero(du);
  for (int64_t s = last - 1; s >= first; --s) {
    const auto keep = hn::VecFromMask(du, Kept(du, hn::Add(target, hn::Set(du, source_hash[s])), threshold));
    bits = hn::Sub(hn::Add(bits, bits), keep);  // a mask is -1
  }
  return bits;
}

// codes[t] of a sweep over `sources` sources, for all targets.
void KeepCodes(const uint32_t* source_hash, int64_t sources, const uint32_t* target_hash, int64_t targets,
               uint32_t threshold, uint64_t* codes) {
  for_columns(0, targets, [&](auto d, int64_t t) HWY_ATTR {
    const hn::RebindToUnsigned<decltype(d)> du;
    const int64_t half = std::min<int64_t>(32, sources);
    uint32_t low[hn::MaxLanes(du)], high[hn::MaxLanes(du)];
    hn::StoreU(KeepBits(du, source_hash, 0, half, target_hash + t, threshold), du, low);
    hn::StoreU(KeepBits(du, source_hash, half, sources, target_hash + t, threshold), du, high);
    for (size_t lane = 0; lane < hn::Lanes(du); ++lane) {
      codes[static_cast<size_t>(t) + lane] = (uint64_t{high[lane]} << 32 | low[lane]) << kCodeShift;
    }
  });
}

// sums[i], i < 8: the sum of the rows whose bit is set in i. The rows are kColumns apart.
HWY_INLINE void SubsetSums(const float* rows, hn::Vec<Tag>* HWY_RESTRICT sums) {
  const Tag d;
  sums[0] = hn::Zero(d);
  for (int bit = 0; bit < 3; ++bit) {
    const auto row = hn::Load(d, rows + bit * kColumns);
    for (int i = 0; i < 1 << bit; ++i) sums[(1 << bit) + i] = bit == 0 ? row : hn::Add(sums[i], row);
  }
}

// tables[table, entry, column] = sum of the sources [first + table * kBits, ...) whose bit is set in entry. Sources
// beyond the last are zero, as are columns beyond `width`.
HWY_INLINE void BuildTables(const Sources& sources, int64_t first, int64_t column, int64_t width,
                            float* HWY_RESTRICT tables) {
  static_assert(kBits == 6);
  const Tag d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag()));
  alignas(64) float rows[kSources * kColumns];
  const int64_t count = std::min<int64_t>(kSources, sources.count - first);
  if (count < kSources || width < kColumns) std::fill_n(rows, kSources * kColumns, 0.0f);
  for (int64_t s = 0; s < count; ++s) {
    const float* from = sources.row(first + s) + column;
    const float factor = sources.factors == nullptr ? 1.0f : sources.factors[first + s];
    for_columns(0, width, [&](auto tag, int64_t j) HWY_ATTR {
      hn::StoreU(hn::Mul(hn::LoadU(tag, from + j), hn::Set(tag, factor)), tag, rows + s * kColumns + j);
    });
  }
  for (int table = 0; table < kTables; ++table) {
    for (int j = 0; j < kColumns; j += kLanes) {
      const float* in = rows + table * kBits * kColumns + j;
      float* out = tables + table * kEntries * kColumns + j;
      hn::Vec<Tag> low[8], high[8];
      SubsetSums(in, low);
      SubsetSums(in + 3 * kColumns, high);
      for (int h = 0; h < 8; ++h) {
        for (int l = 0; l < 8; ++l) hn::Store(hn::Add(low[l], high[h]), d, out + (h * 8 + l) * kColumns);
      }
    }
  }
}

// sums[t, column] += the entries that codes[t] names.
HWY_INLINE void AddEntries(const float* HWY_RESTRICT tables, const uint64_t* HWY_RESTRICT codes, int64_t targets,
                           float* HWY_RESTRICT sums) {
  const Tag d;
  constexpr int kLanes = static_cast<int>(hn::MaxLanes(Tag()));
  constexpr int kVectors = kColumns / kLanes;
  for (int64_t t = 0; t < targets; ++t) {
    float* row = sums + t * kColumns;
    const uint64_t code = codes[t];
    hn::Vec<Tag> total[kVectors];
    for (int v = 0; v < kVectors; ++v) total[v] = hn::Load(d, row + v * kLanes);
    for (int table = 0; table < kTables; ++table) {
      const uint64_t offset = code >> (table * kBits) & ((kEntries - 1) << kCodeShift);
      const float* entry = tables + table * kEntries * kColumns + offset;
      for (int v = 0; v < kVectors; ++v) total[v] = hn::Add(total[v], hn::Load(d, entry + v * kLanes));
    }
    for (int v = 0; v < kVectors; ++v) hn::Store(total[v], d, row + v * kLanes);
  }
}

// sums[block, t, column] = sum of the kept sources, for the targets [begin, end) of all and `width` columns from
// `column`.
void SumSources(const Sources& sources, const uint64_t* codes, int64_t all_targets, int64_t begin, int64_t end,
                int64_t column, int64_t width, float* sums) {
  alignas(64) float tables[kTables * kEntries * kColumns];
  const int64_t targets = end - begin;
  std::fill_n(sums, kUnitColumns * targets, 0.0f);
  for (int64_t first = 0; first < sources.count; first += kSources) {
    for (int64_t s = first + kSources; s < std::min(first + 2 * kSources, sources.count); ++s) {
      const float* next = sources.row(s) + column;
      for (int64_t j = 0; j < width; j += kColumns) hwy::Prefetch(next + j);
    }
    const uint64_t* sweep = codes + first / kSources * all_targets + begin;
    for (int64_t j = 0; j < width; j += kColumns) {
      BuildTables(sources, first, column + j, std::min<int64_t>(kColumns, width - j), tables);
      AddEntries(tables, sweep, targets, sums + j * targets);
    }
  }
}

// d_w[i,:] += scale token[i] g[i,:] and dots[i] = scale w[i,:] . g[i,:] for `rows` rows of `width` columns, which are
// `stride` apart in w and d_w. Block b of row i of g is at g + b * g_block + i * g_stride.
void TokenGradient(const float* token, float scale, const float* w, int64_t stride, const float* g, int64_t g_block,
                   int64_t g_stride, int64_t rows, int64_t width, float* d_w, float* dots) {
  constexpr int64_t kAhead = 8;  // rows to fetch early: each may be on another page
  const Tag d;
  for (int64_t i = 0; i < rows; ++i) {
    const float* row = w + i * stride;
    float* out = d_w + i * stride;
    const float factor = scale * token[i];
    auto sum = hn::Zero(d);
    float rest = 0;
    for (int64_t j = 0; j < width; j += kColumns) {
      if (i + kAhead < rows) {
        hwy::Prefetch(row + kAhead * stride + j);
        hwy::Prefetch(out + kAhead * stride + j);
      }
      const float* gradient = g + j / kColumns * g_block + i * g_stride;
      const int64_t columns = std::min<int64_t>(kColumns, width - j), lanes = static_cast<int64_t>(hn::Lanes(d));
      int64_t c = 0;
      for (; c + lanes <= columns; c += lanes) {
        const auto part = hn::LoadU(d, gradient + c);
        hn::StoreU(hn::MulAdd(hn::Set(d, factor), part, hn::LoadU(d, out + j + c)), d, out + j + c);
        sum = hn::MulAdd(part, hn::LoadU(d, row + j + c), sum);
      }
      for (; c < columns; ++c) {
        out[j + c] += factor * gradient[c];
        rest += gradient[c] * row[j + c];
      }
    }
    dots[i] = scale * (hn::GetLane(hn::SumOfLanes(d, sum)) + rest);
  }
}

}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {

HWY_EXPORT(KeepCodes);
HWY_EXPORT(SumSources);
HWY_EXPORT(TokenGradient);

namespace {

int64_t units_of(int64_t d) { return (d + kUnitColumns - 1) / kUnitColumns; }

// The two numbers whose sum keeps() hashes.
struct Hashes {
  Hashes(std::span<const int32_t> of_nodes, const Dropout& dropout, int64_t f)
      : nodes(of_nodes.size()), features(static_cast<size_t>(f)) {
    for (size_t m = 0; m < nodes.size(); ++m) nodes[m] = dropout_row_hash(dropout, of_nodes[m]);
    for (size_t j = 0; j < features.size(); ++j) features[j] = static_cast<uint32_t>(j) * kDropoutStep;
  }
  Buffer<uint32_t> nodes;     // [M]
  Buffer<uint32_t> features;  // [F]
};

// Calls finish(column, width, begin, end, sums) for all columns in units of kUnitColumns and all targets in tiles.
// sums [blocks, end - begin, kColumns] are those of the kept sources.
template <class Finish>
void sum_kept_sources(const Sources& sources, const Buffer<uint32_t>& source_hash, const Buffer<uint32_t>& target_hash,
                      const Dropout& dropout, int64_t d, Threads threads, const Finish& finish) {
  const int64_t targets = static_cast<int64_t>(target_hash.size());
  const int64_t sweeps = (sources.count + kSources - 1) / kSources;
  const int64_t units = units_of(d), tiles = (targets + kTileTargets - 1) / kTileTargets;
  Buffer<uint64_t> codes(sweeps * targets);  // what is kept of all pairs, as bits
  for_parts(sweeps, threads.count, [&](int64_t sweep) {
    HWY_DYNAMIC_DISPATCH(KeepCodes)
    (source_hash.data() + sweep * kSources, std::min<int64_t>(kSources, sources.count - sweep * kSources),
     target_hash.data(), targets, dropout.threshold(), codes.data() + sweep * targets);
  });
  const auto make_sums = [&] { return AlignedArray<float>(std::min(targets, kTileTargets) * kUnitColumns); };
  for_parts(units * tiles, threads.count, 1, make_sums, [&](int64_t task, AlignedArray<float>& sums) {
    const int64_t column = task / tiles * kUnitColumns, width = std::min<int64_t>(kUnitColumns, d - column);
    const auto [begin, end] = part_of(targets, task % tiles, tiles);
    HWY_DYNAMIC_DISPATCH(SumSources)(sources, codes.data(), targets, begin, end, column, width, sums.data());
    finish(column, width, begin, end, sums.data());
  });
}

}  // namespace

void token_product(const float* token, std::span<const int32_t> nodes, const Dropout& dropout, const float* w,
                   int64_t f, int64_t d, float* y, Threads threads) {
  const int64_t m = static_cast<int64_t>(nodes.size());
  if (m == 0) return;
  if (!dropout.active()) {
    Buffer<float> row(d);
    narrow_product_backward(w, nullptr, token, f, d, 1, nullptr, row.data(), threads);  // w^T token
#pragma omp parallel for schedule(static) num_threads(threads.count)
    for (int64_t i = 0; i < m; ++i) std::copy_n(row.data(), d, y + int64_t{nodes[i]} * d);
    return;
  }
  const Hashes hashes(nodes, dropout, f);
  Buffer<float> factors(f);
  for (int64_t j = 0; j < f; ++j) factors[j] = dropout.scale() * token[j];
  sum_kept_sources({f, w, nullptr, factors.data(), d}, hashes.features, hashes.nodes, dropout, d, threads,
                   [&](int64_t column, int64_t width, int64_t begin, int64_t end, const float* sums) {
                     for (int64_t t = begin; t < end; ++t) {
                       float* row = y + int64_t{nodes[t]} * d + column;
                       for (int64_t j = 0; j < width; j += kColumns) {
                         std::copy_n(sums + j * (end - begin) + (t - begin) * kColumns,
                                     std::min<int64_t>(kColumns, width - j), row + j);
                       }
                     }
                   });
}

void token_product_backward(const float* token, std::span<const int32_t> nodes, const Dropout& dropout, const float* w,
                            const float* d_y, int64_t f, int64_t d, float* d_w, float* d_token, Threads threads) {
  const int64_t m = static_cast<int64_t>(nodes.size());
  if (m == 0) {
    std::fill_n(d_token, f, 0.0f);
    return;
  }
  if (!dropout.active()) {
    // Every token row is the same: the gradient of each is the sum of the rows of d_y.
    Buffer<float> rows((m + 1) * d);
    float* sums = rows.data() + m * d;
    gather_rows(d_y, nodes.data(), m, d, rows.data(), threads);
    column_sums(rows.data(), m, d, sums, threads);
    for_row_ranges(f, threads, [&](int64_t first, int64_t last) {
      HWY_DYNAMIC_DISPATCH(TokenGradient)
      (token + first, 1.0f, w + first * d, d, sums, kColumns, 0, last - first, d, d_w + first * d, d_token + first);
    });
    return;
  }
  const Hashes hashes(nodes, dropout, f);
  Buffer<float> dots(units_of(d) * f);  // parts of d_token, by blocks of columns
  sum_kept_sources({m, d_y, nodes.data(), nullptr, d}, hashes.nodes, hashes.features, dropout, d, threads,
                   [&](int64_t column, int64_t width, int64_t begin, int64_t end, const float* sums) {
                     HWY_DYNAMIC_DISPATCH(TokenGradient)
                     (token + begin, dropout.scale(), w + begin * d + column, d, sums, (end - begin) * kColumns,
                      kColumns, end - begin, width, d_w + begin * d + column,
                      dots.data() + column / kUnitColumns * f + begin);
                   });
#pragma omp parallel for schedule(static) num_threads(threads.count)
  for (int64_t j = 0; j < f; ++j) {
    float total = 0;
    for (int64_t unit = 0; unit < units_of(d); ++unit) total += dots[unit * f + j];
    d_token[j] = total;
  }
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
