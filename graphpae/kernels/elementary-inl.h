// exp, erf and their relatives for vectors of float32: all that the kernels use. Included once per Highway target.
//
// There are two of each, because results are compared bit by bit with those of earlier versions: Exp and Erf, short
// and exact enough for softmax, sigmoid and distances; ExpNegative, Expm1Negative and Erfc, exact to the last bits,
// for activations.
#if defined(GRAPHPAE_KERNELS_ELEMENTARY_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GRAPHPAE_KERNELS_ELEMENTARY_INL_H_
#undef GRAPHPAE_KERNELS_ELEMENTARY_INL_H_
#else
#define GRAPHPAE_KERNELS_ELEMENTARY_INL_H_
#endif

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

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

}  // namespace
}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
