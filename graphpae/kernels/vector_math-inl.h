// Vector functions shared by the kernels: exp, erf and their relatives, GELU, sums over lanes, and a small matrix
// product whose operands stay in the caches. Included once per Highway target.
//
// There are two of each elementary function, because results are compared bit by bit with those of earlier versions:
// Exp and Erf, short and exact enough for softmax, sigmoid and distances; ExpNegative, Expm1Negative and Erfc, exact to
// the last bits, for activations.
#if defined(GRAPHPAE_KERNELS_VECTOR_MATH_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GRAPHPAE_KERNELS_VECTOR_MATH_INL_H_
#undef GRAPHPAE_KERNELS_VECTOR_MATH_INL_H_
#else
#define GRAPHPAE_KERNELS_VECTOR_MATH_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using Floats = hn::CappedTag<float, 16>;
using Vector = hn::Vec<Floats>;
inline constexpr int64_t kLanes = hn::MaxLanes(Floats());

// The polynomial with these coefficients, the highest power first, as one chain of products.
template <class D, class V = hn::Vec<D>, class... Floats>
HWY_INLINE V Polynomial(D d, V x, float highest, Floats... others) {
  V sum = hn::Set(d, highest);
  ((sum = hn::MulAdd(sum, x, hn::Set(d, others))), ...);
  return sum;
}

// x = n ln2 + rest, |rest| <= ln2 / 2, and 2^n. ln2 is given in two parts, the first exact in few bits, so that the
// rest has no rounding from the large product.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V PowerOfTwo(D d, V x, float ln2_high, float ln2_low, V& rest) {
  const hn::RebindToSigned<D> di;
  const auto n = hn::NearestInt(hn::Mul(x, hn::Set(d, 1.44269504f)));
  const V whole = hn::ConvertTo(d, n);
  rest = hn::NegMulAdd(whole, hn::Set(d, ln2_high), x);
  rest = hn::NegMulAdd(whole, hn::Set(d, ln2_low), rest);
  return hn::BitCast(d, hn::ShiftLeft<23>(hn::Add(n, hn::Set(di, 127))));
}

// e^x with a relative error below 2e-7; 0 below -87.3, e^88 above 88. NaN stays NaN.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Exp(D d, V x) {
  const V lowest = hn::Set(d, -87.3f);
  const auto low = hn::Lt(x, lowest);
  x = hn::Min(hn::Set(d, 88.0f), hn::Max(lowest, x));
  V r;
  const V scale = PowerOfTwo(d, x, 0.693359375f, -2.12194440e-4f, r);
  // e^r = 1 + r + r^2 q(r), q fitted at Chebyshev nodes of |r| <= 0.35.
  const V q = Polynomial(d, r, 0.00139345445f, 0.00836377647f, 0.0416664568f, 0.166665734f, 0.5f);
  const V power = hn::MulAdd(hn::Mul(q, r), r, hn::Add(r, hn::Set(d, 1.0f)));
  return hn::IfThenZeroElse(low, hn::Mul(power, scale));
}

// For x <= 0: 2^n, r = x - n ln2 and q of e^r = 1 + r + r^2 q(r), the Taylor series.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V SplitExactly(D d, V x, V& r, V& q) {
  const V scale = PowerOfTwo(d, x, 0.693145752f, 1.42860677e-6f, r);
  q = Polynomial(d, r, 1.0f / 5040, 1.0f / 720, 1.0f / 120, 1.0f / 24, 1.0f / 6, 0.5f);
  return scale;
}

// e^x for x <= 0; zero where it would be denormal.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V ExpNegative(D d, V x) {
  const auto tiny = hn::Lt(x, hn::Set(d, -86.0f));
  V r, q;
  const V scale = SplitExactly(d, hn::Max(x, hn::Set(d, -86.0f)), r, q);
  return hn::IfThenZeroElse(tiny, hn::Mul(hn::MulAdd(hn::Mul(r, r), q, hn::Add(r, hn::Set(d, 1.0f))), scale));
}

// e^x - 1 for x <= 0, within 2 ulp: 2^n expm1(r) + (2^n - 1) loses nothing near zero, where n = 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Expm1Negative(D d, V x) {
  V r, q;
  const V scale = SplitExactly(d, hn::Max(x, hn::Set(d, -80.0f)), r, q);
  return hn::MulAdd(scale, hn::MulAdd(hn::Mul(r, r), q, r), hn::Sub(scale, hn::Set(d, 1.0f)));
}

// erf(x) with an absolute error below 2.5e-7: x P(x^2) for |x| <= 3.85, where erf is 1 within 6e-8, fitted at Chebyshev
// nodes. The argument of P is mapped to [-1, 1], which keeps the coefficients, and so the rounding, small; one chain of
// products, since even and odd powers apart cancel and double the error.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Erf(D d, V x) {
  x = hn::Min(hn::Set(d, 3.85f), hn::Max(hn::Set(d, -3.85f), x));
  const V s = hn::MulAdd(hn::Mul(x, x), hn::Set(d, 2 / (3.85f * 3.85f)), hn::Set(d, -1.0f));
  return hn::Mul(x,
                 Polynomial(d, s, -0.000665854706f, 0.00155701949f, -0.00095117484f, 0.00176447306f, -0.00676087304f,
                            0.0121994641f, -0.017787348f, 0.0276237356f, -0.041327874f, 0.0566316108f, -0.0731350745f,
                            0.0907851673f, -0.110389885f, 0.136213426f, -0.183301374f, 0.367284802f));
}

// erfc(z) = e^(-z^2) (1 - z T(z)) for z >= 0, given e^(-z^2). T is a polynomial fitted to (1 - e^(z^2) erfc(z)) / z on
// [0, 4] with weight z e^(-z^2), so that the absolute error of erfc is below 4e-8 before rounding. Beyond 4 the
// exponential is below 1.2e-7 and any T will do.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Erfc(D d, V z, V exponential) {
  const V u = hn::Min(z, hn::Set(d, 4.0f));
  const V t =
      Polynomial(d, u, -7.6201949e-06f, 0.000147337601f, -0.00128934261f, 0.00684666514f, -0.0251282228f, 0.0694426373f,
                 -0.154909239f, 0.29520478f, -0.498227361f, 0.751928988f, -0.999970402f, 1.12837823f);
  return hn::Mul(exponential, hn::NegMulAdd(u, t, hn::Set(d, 1.0f)));
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
