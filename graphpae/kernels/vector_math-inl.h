// Vector functions shared by the kernels: exp, erf, GELU, sums over lanes, and a small matrix product whose operands
// stay in the caches. Included once per Highway target.
#if defined(GRAPHPAE_KERNELS_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GRAPHPAE_KERNELS_VECTOR_MATH_INL_H_
#undef GRAPHPAE_KERNELS_VECTOR_MATH_INL_H_
#else
#define GRAPHPAE_KERNELS_VECTOR_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels {
namespace HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;
inline constexpr int64_t kLanes = hn::MaxLanes(Floats());

// e^x with a relative error below 2e-7; 0 below -87.3, e^88 above 88. NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Exp(D d, V x) {
  const auto lowest = hn::Set(d, -87.3f);
  const auto low = hn::Lt(x, lowest);
  x = hn::Min(hn::Set(d, 88.0f), hn::Max(lowest, x));
  const auto n = hn::NearestInt(hn::Mul(x, hn::Set(d, 1.44269504f)));
  const auto whole = hn::ConvertTo(d, n);
  // ln 2 in two parts, the first exact in few bits, so that r has no rounding from the large product.
  auto r = hn::NegMulAdd(whole, hn::Set(d, 0.693359375f), x);
  r = hn::NegMulAdd(whole, hn::Set(d, -2.12194440e-4f), r);
  // e^r = 1 + r + r^2 q(r), q fitted at Chebyshev nodes of |r| <= 0.35.
  auto q = hn::MulAdd(hn::Set(d, 0.00139345445f), r, hn::Set(d, 0.00836377647f));
  q = hn::MulAdd(q, r, hn::Set(d, 0.0416664568f));
  q = hn::MulAdd(q, r, hn::Set(d, 0.166665734f));
  q = hn::MulAdd(q, r, hn::Set(d, 0.5f));
  const auto power = hn::MulAdd(hn::Mul(q, r), r, hn::Add(r, hn::Set(d, 1.0f)));
  const hn::RebindToSigned<D> di;
  const auto scale = hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
  return hn::IfThenZeroElse(low, hn::Mul(power, scale));
}

// erf(x) with an absolute error below 2.5e-7: x P(x^2) for |x| <= 3.85, where erf is 1 within 6e-8, fitted at Chebyshev
// nodes. The argument of P is mapped to [-1, 1], which keeps the coefficients, and so the rounding, small; one chain of
// products, since even and odd powers apart cancel and double the error.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Erf(D d, V x) {
  x = hn::Min(hn::Set(d, 3.85f), hn::Max(hn::Set(d, -3.85f), x));
  const auto s = hn::MulAdd(hn::Mul(x, x), hn::Set(d, 2 / (3.85f * 3.85f)), hn::Set(d, -1.0f));
  auto p = hn::MulAdd(hn::Set(d, -0.000665854706f), s, hn::Set(d, 0.00155701949f));
  p = hn::MulAdd(p, s, hn::Set(d, -0.00095117484f));
  p = hn::MulAdd(p, s, hn::Set(d, 0.00176447306f));
  p = hn::MulAdd(p, s, hn::Set(d, -0.00676087304f));
  p = hn::MulAdd(p, s, hn::Set(d, 0.0121994641f));
  p = hn::MulAdd(p, s, hn::Set(d, -0.017787348f));
  p = hn::MulAdd(p, s, hn::Set(d, 0.0276237356f));
  p = hn::MulAdd(p, s, hn::Set(d, -0.041327874f));
  p = hn::MulAdd(p, s, hn::Set(d, 0.0566316108f));
  p = hn::MulAdd(p, s, hn::Set(d, -0.0731350745f));
  p = hn::MulAdd(p, s, hn::Set(d, 0.0907851673f));
  p = hn::MulAdd(p, s, hn::Set(d, -0.110389885f));
  p = hn::MulAdd(p, s, hn::Set(d, 0.136213426f));
  p = hn::MulAdd(p, s, hn::Set(d, -0.183301374f));
  p = hn::MulAdd(p, s, hn::Set(d, 0.367284802f));
  return hn::Mul(x, p);
}

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
}  // namespace HWY_NAMESPACE
}  // namespace graphpae::kernels
HWY_AFTER_NAMESPACE();

#endif  // include guard
