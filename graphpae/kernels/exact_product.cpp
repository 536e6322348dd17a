#include "graphpae/kernels/exact_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/exact_product.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Doubles = hn::ScalableTag<double>;
using Vector = hn::Vec<Doubles>;

HWY_INLINE Vector LoadRow(const float* x) {
  return hn::PromoteTo(Doubles(), hn::LoadU(hn::Rebind<float, Doubles>(), x));
}

// kRows rows share the loads of v.
template <int kRows>
HWY_INLINE void ProductRows(const float* HWY_RESTRICT x, const double* HWY_RESTRICT v, int64_t columns,
                            double* HWY_RESTRICT y) {
  const Doubles d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  Vector sums[kRows];
  for (Vector& sum : sums) sum = hn::Zero(d);
  int64_t j = 0;
  for (; j + lanes <= columns; j += lanes) {
    const Vector factor = hn::LoadU(d, v + j);
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
  const Doubles d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = 0;
  for (; j + lanes <= columns; j += lanes) {
    Vector sum = hn::LoadU(d, d_v + j);
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

}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {

HWY_EXPORT(ExactProduct);
HWY_EXPORT(AddExactGradient);

void exact_product(const float* x, const double* v, int64_t n, int64_t d, double* y) {
  HWY_DYNAMIC_DISPATCH(ExactProduct)(x, v, n, d, y);
}

void add_exact_gradient(const float* x, const double* d_y, int64_t n, int64_t d, double* d_v) {
  HWY_DYNAMIC_DISPATCH(AddExactGradient)(x, d_y, n, d, d_v);
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
