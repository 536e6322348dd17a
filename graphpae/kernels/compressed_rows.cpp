#include "graphpae/kernels/compressed_rows.h"

#include <hwy/aligned_allocator.h>

#include <algorithm>

#include "graphpae/kernels/row_ranges.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/compressed_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graphpae/kernels/columns-inl.h"
#include "graphpae/kernels/vector_math-inl.h"

#ifndef GRAPHPAE_KERNELS_COMPRESSED_ROWS
#define GRAPHPAE_KERNELS_COMPRESSED_ROWS
namespace graphpae::kernels {

constexpr int64_t kBlock = 64;      // columns of gradients that go through at a time
constexpr int64_t kChunk = 96;      // rows that go through at a time: with kBlock columns they stay in the L1 cache
constexpr int64_t kDotsAtOnce = 8;  // rows have room for a multiple of it

// An element of a chunk: where its row of the packed block begins.
struct Term {
  uint32_t start;
  float value;
};

// Columns [first, last) of A: the elements of column k in chunk c are terms[starts[c * (last - first) + k - first]
// ...).
struct ColumnTerms {
  int64_t first, last;
  Buffer<int32_t> starts;
  Buffer<Term> terms;
};

}  // namespace graphpae::kernels
#endif

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {

constexpr int64_t kVectors = kBlock / kLanes;
constexpr int64_t kGroup = std::min<int64_t>(kVectors, 8);  // sums in registers at a time

constexpr int64_t kProductVectors = kLanes < 16 ? 6 : 3;  // of a block; two sums of each are in registers
constexpr int64_t kProductBlock = kProductVectors * kLanes;

int64_t ProductBlockColumns() { return kProductBlock; }

// The columns [begin, begin + count) of rows [first, last) of out [R,D]. packed [K,kProductBlock] is room for those of
// w.
void ProductColumns(const CompressedRows& a, const float* w, const float* bias, int64_t first, int64_t last,
                    int64_t begin, int64_t count, int64_t width, float* HWY_RESTRICT packed, float* HWY_RESTRICT out) {
  const Floats d;
  PackRows<kProductBlock>(d, w + begin, a.columns, width, count, packed);
  HWY_ALIGN float start[kProductBlock] = {};
  HWY_ALIGN float result[kProductBlock];
  if (bias != nullptr) std::copy_n(bias + begin, count, start);
  for (int64_t r = first; r < last; ++r) {
    const float* values = a.values.data() + r * a.stride;
    const int32_t* columns = a.column_of.data() + r * a.stride;
    Vector even[kProductVectors], odd[kProductVectors];
#pragma GCC unroll 6
    for (int v = 0; v < kProductVectors; ++v) {
      even[v] = hn::Load(d, start + v * kLanes);
      odd[v] = hn::Zero(d);
    }
    for (int64_t k = 0; k < a.lengths[r]; k += 2) {  // a zero fills up
      const float *row0 = packed + columns[k] * kProductBlock, *row1 = packed + columns[k + 1] * kProductBlock;
      const auto value0 = hn::Set(d, values[k]), value1 = hn::Set(d, values[k + 1]);
#pragma GCC unroll 6
      for (int v = 0; v < kProductVectors; ++v) even[v] = hn::MulAdd(value0, hn::Load(d, row0 + v * kLanes), even[v]);
#pragma GCC unroll 6
      for (int v = 0; v < kProductVectors; ++v) odd[v] = hn::MulAdd(value1, hn::Load(d, row1 + v * kLanes), odd[v]);
    }
    float* to = out + r * width + begin;
    if (count == kProductBlock) {
#pragma GCC unroll 6
      for (int v = 0; v < kProductVectors; ++v) hn::StoreU(hn::Add(even[v], odd[v]), d, to + v * kLanes);
    } else {
#pragma GCC unroll 6
      for (int v = 0; v < kProductVectors; ++v) hn::Store(hn::Add(even[v], odd[v]), d, result + v * kLanes);
      std::copy_n(result, count, to);
    }
  }
}

// to [count of kBlock] (+)= the sum of value times packed row over the terms.
HWY_INLINE void SumTerms(const Term* begin, const Term* end, const float* HWY_RESTRICT packed, int64_t count, bool add,
                         float* HWY_RESTRICT to) {
  const Floats d;
  HWY_ALIGN float rest[kBlock];
  for (int64_t first = 0; first < kVectors; first += kGroup) {
    Vector sums[kGroup];
#pragma GCC unroll 8
    for (int64_t v = 0; v < kGroup; ++v) sums[v] = hn::Zero(d);
    for (const Term* term = begin; term != end; ++term) {
      const auto value = hn::Set(d, term->value);
      const float* row = packed + term->start + first * kLanes;
#pragma GCC unroll 8
      for (int64_t v = 0; v < kGroup; ++v) sums[v] = hn::MulAdd(value, hn::Load(d, row + v * kLanes), sums[v]);
    }
    float* part = count == kBlock ? to + first * kLanes : rest + first * kLanes;
    const bool in_place = count == kBlock && add;
#pragma GCC unroll 8
    for (int64_t v = 0; v < kGroup; ++v) {
      if (in_place) sums[v] = hn::Add(sums[v], hn::LoadU(d, part + v * kLanes));
      hn::StoreU(sums[v], d, part + v * kLanes);
    }
  }
  if (count == kBlock) return;
  for (int64_t j = 0; j < count; ++j) to[j] = add ? to[j] + rest[j] : rest[j];
}

// Columns [begin, begin + count) of the rows of out that `columns` are.
void TransposedBlock(const ColumnTerms& columns, const float* y, int64_t rows, int64_t width, int64_t begin,
                     int64_t count, float* packed, float* out, int64_t stride) {
  const int64_t range = columns.last - columns.first;
  for (int64_t first = 0, chunk = 0; first < rows; first += kChunk, ++chunk) {
    PackRows<kBlock>(Floats(), y + first * width + begin, std::min(kChunk, rows - first), width, count, packed);
    const int32_t* starts = columns.starts.data() + chunk * range;
    for (int64_t k = 0; k < range; ++k) {
      SumTerms(columns.terms.data() + starts[k], columns.terms.data() + starts[k + 1], packed, count, first > 0,
               out + (columns.first + k) * stride + begin);
    }
  }
}

// sums[i] += row . w[i], kBlock terms.
HWY_INLINE void EightDots(const float* HWY_RESTRICT row, const float* const* w, float* HWY_RESTRICT sums) {
  const Floats d;
  Vector dots[kDotsAtOnce];
  for (int i = 0; i < kDotsAtOnce; ++i) dots[i] = hn::Zero(d);
#pragma GCC unroll 4
  for (int64_t j = 0; j < kBlock; j += kLanes) {
    const auto value = hn::Load(d, row + j);
    for (int i = 0; i < kDotsAtOnce; ++i) dots[i] = hn::MulAdd(value, hn::Load(d, w[i] + j), dots[i]);
  }
  for (int i = 0; i < kDotsAtOnce; i += 4) {
    float four[4];
    SumFour(d, dots[i], dots[i + 1], dots[i + 2], dots[i + 3], four);
    for (int q = 0; q < 4; ++q) sums[i + q] += four[q];
  }
}

// The part of the sums [R,stride] of rows [first, last) that columns [begin, begin + count) of y and w make. packed
// [K,kBlock] is room for those of w.
void SampledBlock(const CompressedRows& a, const float* y, const float* w, int64_t w_stride, int64_t width,
                  int64_t first, int64_t last, int64_t begin, int64_t count, float* packed, float* sums) {
  HWY_ALIGN float row[kBlock];
  PackRows<kBlock>(Floats(), w + begin, a.columns, w_stride, count, packed);
  for (int64_t r = first; r < last; ++r) {
    PackRows<kBlock>(Floats(), y + r * width + begin, 1, width, count, row);
    const int32_t* columns = a.column_of.data() + r * a.stride;
    for (int64_t k = 0; k < a.lengths[r]; k += kDotsAtOnce) {
      const float* rows[kDotsAtOnce];
      for (int i = 0; i < kDotsAtOnce; ++i) rows[i] = packed + columns[k + i] * kBlock;
      EightDots(row, rows, sums + r * a.stride + k);
    }
  }
}

}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {
namespace {

HWY_EXPORT(ProductBlockColumns);
HWY_EXPORT(ProductColumns);
HWY_EXPORT(TransposedBlock);
HWY_EXPORT(SampledBlock);

// Sorted by chunk, then by column, then by row.
ColumnTerms column_terms(const CompressedRows& a, int64_t first, int64_t last) {
  const int64_t range = last - first, chunks = (a.rows + kChunk - 1) / kChunk;
  ColumnTerms columns{first, last, Buffer<int32_t>(chunks * range + 1), {}};
  Buffer<int32_t> at(chunks * range);
  std::fill(at.begin(), at.end(), 0);
  const auto for_terms = [&](const auto& body) {  // body(place in `at`, row, element)
    for (int64_t r = 0; r < a.rows; ++r) {
      const int32_t* begin = a.column_of.data() + r * a.stride;
      const int32_t* end = begin + a.lengths[r];
      for (const int32_t* k = std::lower_bound(begin, end, first); k != end && *k < last; ++k)
        body(r / kChunk * range + *k - first, r, k - begin);
    }
  };
  for_terms([&](int64_t place, int64_t, int64_t) { ++at[place]; });
  int32_t total = 0;
  for (size_t place = 0; place < at.size(); ++place) {
    columns.starts[place] = total;
    total += at[place];
    at[place] = columns.starts[place];
  }
  columns.starts[at.size()] = total;
  columns.terms.resize(total);
  for_terms([&](int64_t place, int64_t r, int64_t k) {
    columns.terms[at[place]++] = {static_cast<uint32_t>(r % kChunk * kBlock), a.values[r * a.stride + k]};
  });
  return columns;
}

}  // namespace

CompressedRows compress_rows(const float* x, int64_t rows, int64_t columns, Threads threads) {
  CompressedRows a;
  a.rows = rows;
  a.columns = columns;
  a.stride = (columns + 1 + 7) / 8 * 8;  // one more is written than kept
  a.values.resize(rows * a.stride);
  a.column_of.resize(rows * a.stride);
  a.lengths.resize(rows);
  for_row_ranges(rows, threads, [&](int64_t first, int64_t last) {
    for (int64_t r = first; r < last; ++r) {
      float* values = a.values.data() + r * a.stride;
      int32_t* column_of = a.column_of.data() + r * a.stride;
      const float* row = x + r * columns;
      int32_t count = 0;
      for (int64_t j = 0; j < columns; ++j) {  // writes every element, moves on from those that are not zero
        values[count] = row[j];
        column_of[count] = static_cast<int32_t>(j);
        count += row[j] != 0;
      }
      a.lengths[r] = count;
      for (; count % 8 != 0; ++count) {
        values[count] = 0;
        column_of[count] = 0;
      }
    }
  });
  return a;
}

void compressed_product(const CompressedRows& a, const float* w, int64_t d, const float* bias, float* out,
                        Threads threads) {
  const int64_t block = HWY_DYNAMIC_DISPATCH(ProductBlockColumns)();
  // Every thread takes a share of the rows of every block, so that few blocks are work for all.
  for_parts(threads.count, threads.count, [&](int64_t share) {
    const auto packed = hwy::AllocateAligned<float>(std::max<int64_t>(a.columns, 1) * block);
    const auto [first, last] = part_of(a.rows, share, threads.count);
    for (int64_t begin = 0; begin < d; begin += block) {
      const int64_t count = std::min(block, d - begin);
      HWY_DYNAMIC_DISPATCH(ProductColumns)(a, w, bias, first, last, begin, count, d, packed.get(), out);
    }
  });
}

void compressed_transposed_product(const CompressedRows& a, const float* y, int64_t d, float* out, int64_t stride,
                                   Threads threads) {
  if (a.rows == 0) {
    for (int64_t k = 0; k < a.columns; ++k) std::fill_n(out + k * stride, d, 0.0f);
    return;
  }
  for_parts(threads.count, threads.count, [&](int64_t share) {
    const auto [first, last] = part_of(a.columns, share, threads.count);
    const ColumnTerms columns = column_terms(a, first, last);
    const auto packed = hwy::AllocateAligned<float>(kChunk * kBlock);
    for (int64_t begin = 0; begin < d; begin += kBlock) {
      HWY_DYNAMIC_DISPATCH(TransposedBlock)
      (columns, y, a.rows, d, begin, std::min(kBlock, d - begin), packed.get(), out, stride);
    }
  });
}

void sampled_product(const CompressedRows& a, const float* y, const float* w, int64_t stride, int64_t d, float* out,
                     Threads threads) {
  for_parts(threads.count, threads.count, [&](int64_t share) {
    const auto [first, last] = part_of(a.rows, share, threads.count);
    const auto packed = hwy::AllocateAligned<float>(std::max<int64_t>(a.columns, 1) * kBlock);
    Buffer<float> sums((last - first) * a.stride);
    std::fill(sums.begin(), sums.end(), 0.0f);
    for (int64_t begin = 0; begin < d; begin += kBlock) {
      HWY_DYNAMIC_DISPATCH(SampledBlock)
      (a, y, w, stride, d, first, last, begin, std::min(kBlock, d - begin), packed.get(),
       sums.data() - first * a.stride);
    }
    for (int64_t r = first; r < last; ++r) {
      float* row = out + r * a.columns;
      std::fill_n(row, a.columns, 0.0f);
      for (int64_t k = 0; k < a.lengths[r]; ++k) row[a.column_of[r * a.stride + k]] = sums[(r - first) * a.stride + k];
    }
  });
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
