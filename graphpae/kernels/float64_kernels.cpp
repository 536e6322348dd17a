#include "graphpae/kernels/float64_kernels.h"

#include <cmath>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/float64_kernels.cpp"
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

HWY_INLINE hn::Vec<Row> LoadRow(const float* x) { return hn::PromoteTo(Row(), hn::LoadU(hn::Rebind<float, Row>(), x)); }

// kRows rows share the loads of v.
template <int kRows>
HWY_INLINE void ProductRows(const float* HWY_RESTRICT x, const double* HWY_RESTRICT v, int64_t columns,
                            double* HWY_RESTRICT y) {
  const Row d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<Row> sums[kRows];
  for (hn::Vec<Row>& sum : sums) sum = hn::Zero(d);
  int64_t j = 0;
  for (; j + lanes <= columns; j += lanes) {
    const hn::Vec<Row> factor = hn::LoadU(d, v + j);
    for (int r = 0; r < kRows; ++r) sums[r] = hn::MulAdd(LoadRow(x + r * columns + j), factor, sums[r]);
  }
  for (int r = 0; r < kRows; ++r) {
    y[r] = hn::GetLane(hn::SumOfLanes(d, sums[r]));
    for (int64_t i = j; i < columns; ++i) y[r] += x[r * columns + i] * v[i];
  }
}

void ExactProduct(const float* x, const double* v, int64_t rows, int64_t columns, double* y) {
  int64_t i = 0;
  for (; i + 8 <= rows; i += 8) ProductRows<8>(x + i * columns, v, columns, y + i);
  for (; i < rows; ++i) ProductRows<1>(x + i * columns, v, columns, y + i);
}

// kRows rows share a pass over the sums.
template <int kRows>
HWY_INLINE void AddRows(const float* HWY_RESTRICT x, const double* HWY_RESTRICT d_y, int64_t columns,
                        double* HWY_RESTRICT d_v) {
  const Row d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j + lanes <= columns; j += lanes) {
    hn::Vec<Row> sum = hn::LoadU(d, d_v + j);
    for (int r = 0; r < kRows; ++r) sum = hn::MulAdd(LoadRow(x + r * columns + j), hn::Set(d, d_y[r]), sum);
    hn::StoreU(sum, d, d_v + j);
  }
  for (; j < columns; ++j) {
    for (int r = 0; r < kRows; ++r) d_v[j] += x[r * columns + j] * d_y[r];
  }
}

void AddExactGradient(const float* x, const double* d_y, int64_t rows, int64_t columns, double* d_v) {
  int64_t i = 0;
  for (; i + 8 <= rows; i += 8) AddRows<8>(x + i * columns, d_y + i, columns, d_v);
  for (; i < rows; ++i) AddRows<1>(x + i * columns, d_y + i, columns, d_v);
}

void EdgeDistances(const double* table, int64_t k, const int32_t* HWY_RESTRICT sources,
                   const int32_t* HWY_RESTRICT targets, int64_t first, int64_t last, float* distances,
                   const MovedRows& moved) {
  const Row d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto place = [&](int32_t node) { return moved.row_of == nullptr ? -1 : int64_t{moved.row_of[node]}; };
  for (int64_t e = first; e < last; ++e) {
    const int64_t moved_a = place(sources[e]), moved_b = place(targets[e]);
    if (moved.row_of != nullptr && moved_a < 0 && moved_b < 0) {
      distances[e] = moved.clean[e];
      continue;
    }
    const double* a = moved_a < 0 ? table + int64_t{sources[e]} * k : moved.rows + moved_a * k;
    const double* b = moved_b < 0 ? table + int64_t{targets[e]} * k : moved.rows + moved_b * k;
    auto sum = hn::Zero(d);
    int64_t j = 0;
    for (; j + lanes <= k; j += lanes) {
      const auto difference = hn::Sub(hn::LoadU(d, a + j), hn::LoadU(d, b + j));
      sum = hn::MulAdd(difference, difference, sum);
    }
    double total = hn::GetLane(hn::SumOfLanes(d, sum));
    for (; j < k; ++j) total += (a[j] - b[j]) * (a[j] - b[j]);
    distances[e] = static_cast<float>(std::sqrt(total));
  }
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
HWY_EXPORT(ExactProduct);
HWY_EXPORT(AddExactGradient);
HWY_EXPORT(EdgeDistances);
HWY_EXPORT(UpdateRow);
HWY_EXPORT(ReflectStrip);
HWY_EXPORT(RotateStrip);

double dot(const double* a, const double* b, int64_t n) { return HWY_DYNAMIC_DISPATCH(Dot)(a, b, n); }

void exact_product(const float* x, const double* v, int64_t n, int64_t d, double* y) {
  HWY_DYNAMIC_DISPATCH(ExactProduct)(x, v, n, d, y);
}

void add_exact_gradient(const float* x, const double* d_y, int64_t n, int64_t d, double* d_v) {
  HWY_DYNAMIC_DISPATCH(AddExactGradient)(x, d_y, n, d, d_v);
}

void edge_distances(const double* table, int64_t k, const int32_t* sources, const int32_t* targets, int64_t first,
                    int64_t last, float* distances, const MovedRows& moved) {
  HWY_DYNAMIC_DISPATCH(EdgeDistances)(table, k, sources, targets, first, last, distances, moved);
}

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
