// Vector functions shared by the kernels: GELU, sums over lanes, and a small matrix product whose operands stay in the
// caches. Included once per Highway target.
#if defined(GRAPHPAE_KERNELS_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GRAPHPAE_KERNELS_VECTOR_MATH_INL_H_
#undef GRAPHPAE_KERNELS_VECTOR_MATH_INL_H_
#else
#define GRAPHPAE_KERNELS_VECTOR_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "graphpae/kernels/elementary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;
inline constexpr int64_t kLanes = hn::MaxLanes(Floats());

// The standard normal distribution function.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V NormalCdf(D d, V x) {
  const auto half = hn::Set(d, 0.5f);
  return hn::MulAdd(half, Erf(d, hn::Mul(x, hn::Set(d, 0.707106781f))), half);
}

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Gelu(D d, V x) {
  return hn::Mul(x, NormalCdf(d, x));
}

// gelu(x), and its derivative: the distribution function plus x times the density.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V GeluWithSlope(D d, V x, V& slope) {
  const auto cdf = NormalCdf(d, x);
  const auto density = hn::Mul(hn::Set(d, 0.398942280f), Exp(d, hn::Mul(hn::Mul(x, x), hn::Set(d, -0.5f))));
  slope = hn::MulAdd(x, density, cdf);
  return hn::Mul(x, cdf);
}

#if HWY_TARGET == HWY_SCALAR
template <class D, class V = hn::Vec<D>>
HWY_INLINE void SumFour(D, V a, V b, V c, V e, float* HWY_RESTRICT sums) {
  sums[0] = hn::GetLane(a);
  sums[1] = hn::GetLane(b);
  sums[2] = hn::GetLane(c);
  sums[3] = hn::GetLane(e);
}
#else
// Adds the 128-bit blocks of a vector.
template <class D>
HWY_INLINE auto FoldBlocks(D, hn::Vec<D> v) {
  if constexpr (hn::MaxLanes(D()) <= 4) {
    return v;
  } else {
    const hn::Half<D> half;
    return FoldBlocks(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  }
}

// The sums over the lanes of four vectors of four lanes or more. Costs about as much as two separate sums.
template <class D, class V = hn::Vec<D>>
HWY_INLINE void SumFour(D d, V a, V b, V c, V e, float* HWY_RESTRICT sums) {
  const auto ab = hn::Add(hn::InterleaveLower(d, a, b), hn::InterleaveUpper(d, a, b));
  const auto ce = hn::Add(hn::InterleaveLower(d, c, e), hn::InterleaveUpper(d, c, e));
  const hn::Repartition<double, D> dd;
  const auto ab2 = hn::BitCast(dd, ab), ce2 = hn::BitCast(dd, ce);
  const auto low = hn::BitCast(d, hn::InterleaveLower(dd, ab2, ce2));
  const auto high = hn::BitCast(d, hn::InterleaveUpper(dd, ab2, ce2));
  hn::StoreU(FoldBlocks(d, hn::Add(low, high)), hn::FixedTag<float, 4>(), sums);
}
#endif

template <class D, class V = hn::Vec<D>>
HWY_INLINE float SumLanes(D d, V v) {
  return hn::GetLane(hn::SumOfLanes(d, v));
}

// sums[r] += <v, rows[r]> for `count` rows, rounded up to a multiple of four, of `length` floats, whole vectors.
inline void AddDots(const float* HWY_RESTRICT v, const float* HWY_RESTRICT rows, int64_t count, int64_t length,
                    float* HWY_RESTRICT sums) {
  const Floats d;
  for (int64_t r = 0; r < count; r += 4) {
    auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
    const float* row = rows + r * length;
    for (int64_t i = 0; i < length; i += kLanes) {
      const auto value = hn::Load(d, v + i);
      s0 = hn::MulAdd(value, hn::Load(d, row + i), s0);
      s1 = hn::MulAdd(value, hn::Load(d, row + length + i), s1);
      s2 = hn::MulAdd(value, hn::Load(d, row + 2 * length + i), s2);
      s3 = hn::MulAdd(value, hn::Load(d, row + 3 * length + i), s3);
    }
    float four[4];
    SumFour(d, s0, s1, s2, s3, four);
    for (int64_t q = 0; q < 4; ++q) sums[r + q] += four[q];
  }
}

// The rows of a tile: with its vectors of a row, as many accumulators as there are registers for.
#if HWY_ARCH_X86 && HWY_TARGET > HWY_AVX3
inline constexpr int64_t kTileRows = 4;
#else
inline constexpr int64_t kTileRows = 8;
#endif

enum class Start { zero, bias, sum };  // what a product is added to: nothing, a number per row, what is there

// One tile: c[r, :] = start + sum over k < depth of a[r, k] * b[k, :], for kRows rows of kVectors vectors. `a` has any
// strides; the rows of `b` and `c` are contiguous and aligned.
template <int kRows, int kVectors>
HWY_NOINLINE void ProductTile(const float* HWY_RESTRICT a, int64_t a_row, int64_t a_depth, const float* HWY_RESTRICT b,
                              int64_t b_stride, int64_t depth, Start start, const float* HWY_RESTRICT bias,
                              float* HWY_RESTRICT c, int64_t c_stride) {
  const Floats d;
  Vector sum[kRows][kVectors];
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) {
      sum[r][v] = start == Start::sum    ? hn::Load(d, c + r * c_stride + v * kLanes)
                  : start == Start::bias ? hn::Set(d, bias[r])
                                         : hn::Zero(d);
    }
  }
  for (int64_t k = 0; k < depth; ++k, a += a_depth, b += b_stride) {
    Vector row[kVectors];
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) row[v] = hn::Load(d, b + v * kLanes);
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r) {
      const auto factor = hn::Set(d, a[r * a_row]);
#pragma GCC unroll 4
      for (int v = 0; v < kVectors; ++v) sum[r][v] = hn::MulAdd(factor, row[v], sum[r][v]);
    }
  }
#pragma GCC unroll 8
  for (int r = 0; r < kRows; ++r) {
#pragma GCC unroll 4
    for (int v = 0; v < kVectors; ++v) hn::Store(sum[r][v], d, c + r * c_stride + v * kLanes);
  }
}

// A matrix packed for PackedProduct: [rows / kTileRows][depth][kTileRows], rows beyond the last zero.
inline int64_t PackedRows(int64_t rows) { return (rows + kTileRows - 1) / kTileRows * kTileRows; }
inline void PackRows(const float* HWY_RESTRICT a, int64_t a_row, int64_t a_depth, int64_t rows, int64_t depth,
                     float* HWY_RESTRICT packed) {
  for (int64_t r = 0; r < PackedRows(rows); ++r) {
    float* to = packed + r / kTileRows * kTileRows * depth + r % kTileRows;
    for (int64_t k = 0; k < depth; ++k) to[k * kTileRows] = r < rows ? a[r * a_row + k * a_depth] : 0.0f;
  }
}

// c[r, :] = start + sum over k of packed[r, k] * b[k, :] for PackedRows(rows) rows of `columns` columns, a multiple of
// three vectors. `bias` is padded as the rows are.
inline void PackedProduct(const float* packed, int64_t rows, int64_t depth, const float* b, int64_t columns,
                          Start start, const float* bias, float* c) {
  for (int64_t column = 0; column < columns; column += 3 * kLanes) {
    for (int64_t r = 0; r < rows; r += kTileRows) {
      ProductTile<kTileRows, 3>(packed + r * depth, 1, kTileRows, b + column, columns, depth, start, bias + r,
                                c + r * columns + column, columns);
    }
  }
}

}  // namespace
}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
