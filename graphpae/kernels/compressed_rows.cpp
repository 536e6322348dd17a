#include "graphpae/kernels/compressed_rows.h"

#include <hwy/aligned_allocator.h>

#include <algorithm>

#include "graphpae/kernels/row_ranges.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/compressed_rows.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graphpae/kernels/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {

using Tag = hn::CappedTag<float, 16>;
constexpr int64_t kLanes = hn::MaxLanes(Tag());
constexpr int64_t kVectors = kLanes < 16 ? 6 : 3;  // of a block; two sums of each are in registers
constexpr int64_t kBlock = kVectors * kLanes;

int64_t BlockColumns() { return kBlock; }

// The columns [begin, begin + count) of w [K,D], filled up with zeros.
void PackColumns(const float* w, int64_t k, int64_t d, int64_t begin, int64_t count, float* packed) {
  PackRows<kBlock>(Tag(), w + begin, k, d, count, packed);
}

// The columns [begin, begin + count) of rows [first, last) of out [R,D].
void ProductColumns(const CompressedRows& a, const float* HWY_RESTRICT packed, const float* bias, int64_t first,
                    int64_t last, int64_t begin, int64_t count, int64_t width, float* HWY_RESTRICT out) {
  const Tag d;
  HWY_ALIGN float start[kBlock] = {};
  HWY_ALIGN float result[kBlock];
  if (bias != nullptr) std::copy_n(bias + begin, count, start);
  for (int64_t r = first; r < last; ++r) {
    const float* values = a.values.data() + r * a.stride;
    const int32_t* columns = a.column_of.data() + r * a.stride;
    hn::Vec<Tag> even[kVectors], odd[kVectors];
#pragma GCC unroll 6
    for (int v = 0; v < kVectors; ++v) {
      even[v] = hn::Load(d, start + v * kLanes);
      odd[v] = hn::Zero(d);
    }
    for (int64_t k = 0; k < a.lengths[r]; k += 2) {  // a zero fills up
      const float *row0 = packed + columns[k] * kBlock, *row1 = packed + columns[k + 1] * kBlock;
      const auto value0 = hn::Set(d, values[k]), value1 = hn::Set(d, values[k + 1]);
#pragma GCC unroll 6
      for (int v = 0; v < kVectors; ++v) even[v] = hn::MulAdd(value0, hn::Load(d, row0 + v * kLanes), even[v]);
#pragma GCC unroll 6
      for (int v = 0; v < kVectors; ++v) odd[v] = hn::MulAdd(value1, hn::Load(d, row1 + v * kLanes), odd[v]);
    }
    float* to = out + r * width + begin;
    if (count == kBlock) {
#pragma GCC unroll 6
      for (int v = 0; v < kVectors; ++v) hn::StoreU(hn::Add(even[v], odd[v]), d, to + v * kLanes);
    } else {
#pragma GCC unroll 6
      for (int v = 0; v < kVectors; ++v) hn::Store(hn::Add(even[v], odd[v]), d, result + v * kLanes);
      std::copy_n(result, count, to);
    }
  }
}

}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {

HWY_EXPORT(BlockColumns);
HWY_EXPORT(PackColumns);
HWY_EXPORT(ProductColumns);

CompressedRows compress_rows(const float* x, int64_t rows, int64_t columns, Threads threads) {
  CompressedRows a;
  a.rows = rows;
  a.columns = columns;
  a.stride = (columns + 1 + 7) / 8 * 8;  // one more is written than kept
  a.values.resize(static_cast<size_t>(rows * a.stride));
  a.column_of.resize(static_cast<size_t>(rows * a.stride));
  a.lengths.resize(static_cast<size_t>(rows));
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
  const int64_t block = HWY_DYNAMIC_DISPATCH(BlockColumns)();
  // Every thread takes a share of the rows of every block, so that few blocks are work for all.
#pragma omp parallel num_threads(threads.count)
  {
    flush_denormals();
    const auto packed = hwy::AllocateAligned<float>(static_cast<size_t>(std::max<int64_t>(a.columns, 1) * block));
#pragma omp for schedule(static)
    for (int64_t share = 0; share < threads.count; ++share) {
      const auto [first, last] = part_of(a.rows, share, threads.count);
      for (int64_t begin = 0; begin < d; begin += block) {
        const int64_t count = std::min(block, d - begin);
        HWY_DYNAMIC_DISPATCH(PackColumns)(w, a.columns, d, begin, count, packed.get());
        HWY_DYNAMIC_DISPATCH(ProductColumns)(a, packed.get(), bias, first, last, begin, count, d, out);
      }
    }
  }
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
