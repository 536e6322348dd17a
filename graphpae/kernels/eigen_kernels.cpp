#include "graphpae/kernels/eigen_kernels.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/eigen_kernels.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Row = hn::ScalableTag<double>;
using Strip = hn::CappedTag<double, kStripRows>;
inline constexpr size_t kLanes = hn::MaxLanes(Strip());
inline constexpr size_t kVectors = kStripRows / kLanes;

double Dot(const double* HWY_RESTRICT a, const double* HWY_RESTRICT b, int64_t n) {
  const Row d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  auto s0 = hn::Zero(d), s1 = hn::Zero(d);
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    s0 = hn::MulAdd(hn::LoadU(d, a + i), hn::LoadU(d, b + i), s0);
    s1 = hn::MulAdd(hn::LoadU(d, a + i + lanes), hn::LoadU(d, b + i + lanes), s1);
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
  for (; i < n; ++i) sum += a[i] * b[i];
  return sum;
}

double UpdateRow(double* HWY_RESTRICT row, const double* HWY_RESTRICT v, double fv, const double* HWY_RESTRICT w,
                 double fw, const double* HWY_RESTRICT next, int64_t n) {
  const Row d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto av = hn::Set(d, fv), aw = hn::Set(d, fw);
  auto s0 = hn::Zero(d), s1 = hn::Zero(d);
  int64_t i = 0;
  for (; i + 2 * lanes <= n; i += 2 * lanes) {
    const int64_t k = i + lanes;
    const auto r0 =
        hn::NegMulAdd(aw, hn::LoadU(d, w + i), hn::NegMulAdd(av, hn::LoadU(d, v + i), hn::LoadU(d, row + i)));
    const auto r1 =
        hn::NegMulAdd(aw, hn::LoadU(d, w + k), hn::NegMulAdd(av, hn::LoadU(d, v + k), hn::LoadU(d, row + k)));
    hn::StoreU(r0, d, row + i);
    hn::StoreU(r1, d, row + k);
    s0 = hn::MulAdd(r0, hn::LoadU(d, next + i), s0);
    s1 = hn::MulAdd(r1, hn::LoadU(d, next + k), s1);
  }
  double sum = hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
  for (; i < n; ++i) {
    row[i] -= fv * v[i] + fw * w[i];
    sum += row[i] * next[i];
  }
  return sum;
}

void ReflectStrip(double* HWY_RESTRICT strip, const double* HWY_RESTRICT v, double tau, int64_t n) {
  const Strip d;
  hn::Vec<Strip> sum[kVectors], other[kVectors];
  for (size_t q = 0; q < kVectors; ++q) sum[q] = other[q] = hn::Zero(d);
  int64_t j = 0;
  for (; j + 2 <= n; j += 2) {
    const auto f0 = hn::Set(d, v[j]), f1 = hn::Set(d, v[j + 1]);
    for (size_t q = 0; q < kVectors; ++q) {
      sum[q] = hn::MulAdd(f0, hn::Load(d, strip + j * kStripRows + q * kLanes), sum[q]);
      other[q] = hn::MulAdd(f1, hn::Load(d, strip + (j + 1) * kStripRows + q * kLanes), other[q]);
    }
  }
  for (; j < n; ++j) {
    const auto f = hn::Set(d, v[j]);
    for (size_t q = 0; q < kVectors; ++q)
      sum[q] = hn::MulAdd(f, hn::Load(d, strip + j * kStripRows + q * kLanes), sum[q]);
  }
  const auto factor = hn::Set(d, -tau);
  for (size_t q = 0; q < kVectors; ++q) sum[q] = hn::Mul(factor, hn::Add(sum[q], other[q]));
  for (j = 0; j < n; ++j) {
    const auto f = hn::Set(d, v[j]);
    for (size_t q = 0; q < kVectors; ++q) {
      double* at = strip + j * kStripRows + q * kLanes;
      hn::Store(hn::MulAdd(f, sum[q], hn::Load(d, at)), d, at);
    }
  }
}

void RotateStrip(double* HWY_RESTRICT strip, const double* HWY_RESTRICT c, const double* HWY_RESTRICT s,
                 int64_t count) {
  const Strip d;
  hn::Vec<Strip> carried[kVectors];  // column i+1 on its way down
  for (size_t q = 0; q < kVectors; ++q) carried[q] = hn::Load(d, strip + count * kStripRows + q * kLanes);
  for (int64_t i = count - 1; i >= 0; --i) {
    const auto cosine = hn::Set(d, c[i]), sine = hn::Set(d, s[i]);
    for (size_t q = 0; q < kVectors; ++q) {
      double* at = strip + i * kStripRows + q * kLanes;
      const auto lower = hn::Load(d, at);
      hn::Store(hn::MulAdd(sine, lower, hn::Mul(cosine, carried[q])), d, at + kStripRows);
      carried[q] = hn::NegMulAdd(sine, carried[q], hn::Mul(cosine, lower));
    }
  }
  for (size_t q = 0; q < kVectors; ++q) hn::Store(carried[q], d, strip + q * kLanes);
}

}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {

HWY_EXPORT(Dot);
HWY_EXPORT(UpdateRow);
HWY_EXPORT(ReflectStrip);
HWY_EXPORT(RotateStrip);

double dot(const double* a, const double* b, int64_t n) { return HWY_DYNAMIC_DISPATCH(Dot)(a, b, n); }

double update_row(double* row, const double* v, double fv, const double* w, double fw, const double* next, int64_t n) {
  return HWY_DYNAMIC_DISPATCH(UpdateRow)(row, v, fv, w, fw, next, n);
}

void reflect_strip(double* strip, const double* v, double tau, int64_t n) {
  HWY_DYNAMIC_DISPATCH(ReflectStrip)(strip, v, tau, n);
}

void rotate_strip(double* strip, const double* c, const double* s, int64_t count) {
  HWY_DYNAMIC_DISPATCH(RotateStrip)(strip, c, s, count);
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
