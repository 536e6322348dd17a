#include "graphpae/kernels/gelu_norm.h"

#include <algorithm>
#include <cmath>
#include <type_traits>

#include "graphpae/core/buffer.h"
#include "graphpae/kernels/row_ranges.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/gelu_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graphpae/kernels/columns-inl.h"
#include "graphpae/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {

// The activation of x; with kSlope also its derivative.
template <NormActivation kActivation, bool kSlope, class D, class V = hn::Vec<D>>
HWY_INLINE V Activate(D d, V x, V& slope) {
  if constexpr (kActivation == NormActivation::kRelu) {
    if constexpr (kSlope) slope = hn::IfThenElseZero(hn::Gt(x, hn::Zero(d)), hn::Set(d, 1.0f));
    return hn::Max(x, hn::Zero(d));
  } else {
    const V z = hn::Mul(hn::Abs(x), hn::Set(d, 0.707106781f));
    const V exponential = ExpNegative(d, hn::Neg(hn::Mul(z, z)));
    const V tail = hn::Mul(hn::Set(d, 0.5f), Erfc(d, z, exponential));  // of the normal distribution
    const V phi = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(hn::Set(d, 1.0f), tail));
    if constexpr (kSlope) slope = hn::MulAdd(hn::Mul(x, exponential), hn::Set(d, 0.398942280f), phi);
    return hn::Mul(x, phi);
  }
}

// A sum over the columns of a row: whole vectors, and the columns that are left.
class ColumnSum {
 public:
  template <class D>
  HWY_INLINE hn::Vec<D>& of(D) {
    if constexpr (std::is_same_v<D, FullTag>) {
      return whole_;
    } else {
      return left_;
    }
  }
  HWY_INLINE float total() const { return SumLanes(FullTag(), whole_) + SumLanes(OneTag(), left_); }

 private:
  hn::Vec<FullTag> whole_ = hn::Zero(FullTag());
  hn::Vec<OneTag> left_ = hn::Zero(OneTag());
};

template <NormActivation kActivation>
void ForwardRows(const float* x, const float* weight, const float* bias, int64_t first, int64_t last, int64_t columns,
                 float* y, float* mean, float* inverse_deviation) {
  for (int64_t i = first; i < last; ++i) {
    const float* in = x + i * columns;
    float* out = y + i * columns;
    ColumnSum sum, squares;
    for_columns(0, columns, [&](auto d, int64_t j) HWY_ATTR {
      auto unused = hn::Zero(d);
      const auto v = Activate<kActivation, false>(d, hn::LoadU(d, in + j), unused);
      hn::StoreU(v, d, out + j);
      sum.of(d) = hn::Add(sum.of(d), v);
    });
    const float center = columns == 0 ? 0 : sum.total() / static_cast<float>(columns);
    // The second pass over the row, which is in the L1 cache, avoids the cancellation of E[v^2] - E[v]^2.
    for_columns(0, columns, [&](auto d, int64_t j) HWY_ATTR {
      const auto v = hn::Sub(hn::LoadU(d, out + j), hn::Set(d, center));
      squares.of(d) = hn::Add(squares.of(d), hn::Mul(v, v));
    });
    const float variance = columns == 0 ? 0 : squares.total() / static_cast<float>(columns);
    const float inverse = 1 / std::sqrt(variance + kNormEpsilon);
    mean[i] = center;
    inverse_deviation[i] = inverse;
    for_columns(0, columns, [&](auto d, int64_t j) HWY_ATTR {
      const auto v = hn::Mul(hn::Sub(hn::LoadU(d, out + j), hn::Set(d, center)), hn::Set(d, inverse));
      hn::StoreU(hn::MulAdd(v, hn::LoadU(d, weight + j), hn::LoadU(d, bias + j)), d, out + j);
    });
  }
}

// scratch [2 * columns]: the normalised row and the slopes of the activation. sums [2 * columns]: of d_y times the
// normalised row, and of d_y.
template <NormActivation kActivation>
void BackwardRows(const float* x, const float* weight, const float* mean, const float* inverse_deviation,
                  const float* d_y, int64_t first, int64_t last, int64_t columns, float* d_x, float* sums,
                  float* scratch) {
  float* normal = scratch;
  float* slopes = scratch + columns;
  float* sums_weight = sums;
  float* sums_bias = sums + columns;
  for (int64_t i = first; i < last; ++i) {
    const float* in = x + i * columns;
    const float* gradient = d_y + i * columns;
    float* out = d_x + i * columns;
    const float center = mean[i], inverse = inverse_deviation[i];
    ColumnSum sum, product;
    for_columns(0, columns, [&](auto d, int64_t j) HWY_ATTR {
      auto slope = hn::Zero(d);
      const auto v = Activate<kActivation, true>(d, hn::LoadU(d, in + j), slope);
      const auto n = hn::Mul(hn::Sub(v, hn::Set(d, center)), hn::Set(d, inverse));
      const auto g = hn::LoadU(d, gradient + j);
      hn::StoreU(n, d, normal + j);
      hn::StoreU(slope, d, slopes + j);
      hn::StoreU(hn::MulAdd(g, n, hn::LoadU(d, sums_weight + j)), d, sums_weight + j);
      hn::StoreU(hn::Add(g, hn::LoadU(d, sums_bias + j)), d, sums_bias + j);
      const auto weighted = hn::Mul(g, hn::LoadU(d, weight + j));
      sum.of(d) = hn::Add(sum.of(d), weighted);
      product.of(d) = hn::MulAdd(weighted, n, product.of(d));
    });
    const float count = static_cast<float>(std::max<int64_t>(columns, 1));
    const float a = sum.total() / count, b = product.total() / count;
    for_columns(0, columns, [&](auto d, int64_t j) HWY_ATTR {
      const auto weighted = hn::MulSub(hn::LoadU(d, gradient + j), hn::LoadU(d, weight + j), hn::Set(d, a));
      const auto v = hn::NegMulAdd(hn::LoadU(d, normal + j), hn::Set(d, b), weighted);
      hn::StoreU(hn::Mul(hn::Mul(v, hn::Set(d, inverse)), hn::LoadU(d, slopes + j)), d, out + j);
    });
  }
}

void NormForward(NormActivation activation, const float* x, const float* weight, const float* bias, int64_t first,
                 int64_t last, int64_t columns, float* y, float* mean, float* inverse_deviation) {
  const auto run =
      activation == NormActivation::kGelu ? ForwardRows<NormActivation::kGelu> : ForwardRows<NormActivation::kRelu>;
  run(x, weight, bias, first, last, columns, y, mean, inverse_deviation);
}

void NormBackward(NormActivation activation, const float* x, const float* weight, const float* mean,
                  const float* inverse_deviation, const float* d_y, int64_t first, int64_t last, int64_t columns,
                  float* d_x, float* sums, float* scratch) {
  const auto run =
      activation == NormActivation::kGelu ? BackwardRows<NormActivation::kGelu> : BackwardRows<NormActivation::kRelu>;
  run(x, weight, mean, inverse_deviation, d_y, first, last, columns, d_x, sums, scratch);
}

}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {

HWY_EXPORT(NormForward);
HWY_EXPORT(NormBackward);

void activation_norm(NormActivation activation, const float* x, const float* weight, const float* bias, int64_t m,
                     int64_t d, float* y, float* mean, float* inverse_deviation, Threads threads) {
  for_row_ranges(m, threads, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(NormForward)(activation, x, weight, bias, first, last, d, y, mean, inverse_deviation);
  });
}

void activation_norm_backward(NormActivation activation, const float* x, const float* weight, const float* mean,
                              const float* inverse_deviation, const float* d_y, int64_t m, int64_t d, float* d_x,
                              float* d_weight, float* d_bias, Threads threads) {
  Buffer<float> both(static_cast<size_t>(2 * d));
  sum_over_slots(m, row_slots(m), 2 * d, both.data(), threads, [&](int64_t first, int64_t last, float* sums) {
    Buffer<float> scratch(static_cast<size_t>(2 * d));
    HWY_DYNAMIC_DISPATCH(NormBackward)
    (activation, x, weight, mean, inverse_deviation, d_y, first, last, d, d_x, sums, scratch.data());
  });
  std::copy_n(both.data(), d, d_weight);
  std::copy_n(both.data() + d, d, d_bias);
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
