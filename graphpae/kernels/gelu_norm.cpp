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

template <NormActivation kActivation>
void ForwardRows(const float* x, const float* weight, const float* bias, int64_t first, int64_t last, int64_t columns,
                 float* y, float* mean, float* inverse_deviation) {
  const FullTag full;
  const OneTag one;
  for (int64_t i = first; i < last; ++i) {
    const float* in = x + i * columns;
    float* out = y + i * columns;
    auto sum = hn::Zero(full);
    auto sum_one = hn::Zero(one);
    const auto add = [&](auto d, auto v) HWY_ATTR {
      if constexpr (std::is_same_v<decltype(d), FullTag>) {
        sum = hn::Add(sum, v);
      } else {
        sum_one = hn::Add(sum_one, v);
      }
    };
    for_columns(0, columns, [&](auto d, int64_t j) HWY_ATTR {
      auto unused = hn::Zero(d);
      const auto v = Activate<kActivation, false>(d, hn::LoadU(d, in + j), unused);
      hn::StoreU(v, d, out + j);
      add(d, v);
    });
    const float center =
        columns == 0 ? 0 : (SumLanes(full, sum) + SumLanes(one, sum_one)) / static_cast<float>(columns);
    // The second pass over the row, which is in the L1 cache, avoids the cancellation of E[v^2] - E[v]^2.
    sum = hn::Zero(full);
    sum_one = hn::Zero(one);
    for_columns(0, columns, [&](auto d, int64_t j) HWY_ATTR {
      const auto v = hn::Sub(hn::LoadU(d, out + j), hn::Set(d, center));
      add(d, hn::Mul(v, v));
    });
    const float variance =
        columns == 0 ? 0 : (SumLanes(full, sum) + SumLanes(one, sum_one)) / static_cast<float>(columns);
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
  const FullTag full;
  const OneTag one;
  float* normal = scratch;
  float* slopes = scratch + columns;
  float* sums_weight = sums;
  float* sums_bias = sums + columns;
  for (int64_t i = first; i < last; ++i) {
    const float* in = x + i * columns;
    const float* gradient = d_y + i * columns;
    float* out = d_x + i * columns;
    const float center = mean[i], inverse = inverse_deviation[i];
    auto sum = hn::Zero(full), product = hn::Zero(full);
    auto sum_one = hn::Zero(one), product_one = hn::Zero(one);
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
      if constexpr (std::is_same_v<decltype(d), FullTag>) {
        sum = hn::Add(sum, weighted);
        product = hn::MulAdd(weighted, n, product);
      } else {
        sum_one = hn::Add(sum_one, weighted);
        product_one = hn::MulAdd(weighted, n, product_one);
      }
    });
    const float count = static_cast<float>(std::max<int64_t>(columns, 1));
    const float a = (SumLanes(full, sum) + SumLanes(one, sum_one)) / count;
    const float b = (SumLanes(full, product) + SumLanes(one, product_one)) / count;
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

void ErfValues(const float* x, int64_t n, float* y) {
  for_columns(0, n, [&](auto d, int64_t i) HWY_ATTR {
    const auto v = hn::LoadU(d, x + i);
    const auto z = hn::Abs(v);
    const auto tail = Erfc(d, z, ExpNegative(d, hn::Neg(hn::Mul(z, z))));
    hn::StoreU(hn::CopySign(hn::Sub(hn::Set(d, 1.0f), tail), v), d, y + i);
  });
}

}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {

HWY_EXPORT(NormForward);
HWY_EXPORT(NormBackward);
HWY_EXPORT(ErfValues);

void activation_norm(NormActivation activation, const float* x, const float* weight, const float* bias, int64_t m,
                     int64_t d, float* y, float* mean, float* inverse_deviation, Threads threads) {
  for_row_ranges(m, threads, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(NormForward)(activation, x, weight, bias, first, last, d, y, mean, inverse_deviation);
  });
}

void activation_norm_backward(NormActivation activation, const float* x, const float* weight, const float* mean,
                              const float* inverse_deviation, const float* d_y, int64_t m, int64_t d, float* d_x,
                              float* d_weight, float* d_bias, Threads threads) {
  // A slot: the two sums over its rows and two rows of scratch.
  const int64_t slots = row_slots(m), width = 4 * d;
  Buffer<float> space(slots * width);
  for_parts(slots, team_for(slots, threads), [&](int64_t slot) {
    const auto [first, last] = part_of(m, slot, slots);
    float* sums = space.data() + slot * width;
    std::fill_n(sums, 2 * d, 0.0f);
    HWY_DYNAMIC_DISPATCH(NormBackward)
    (activation, x, weight, mean, inverse_deviation, d_y, first, last, d, d_x, sums, sums + 2 * d);
  });
  std::fill_n(d_weight, d, 0.0f);
  std::fill_n(d_bias, d, 0.0f);
  for (int64_t slot = 0; slot < slots; ++slot) {
    const float* sums = space.data() + slot * width;
    for (int64_t j = 0; j < d; ++j) d_weight[j] += sums[j];
    for (int64_t j = 0; j < d; ++j) d_bias[j] += sums[d + j];
  }
}

void erf_values(const float* x, int64_t n, float* y) { HWY_DYNAMIC_DISPATCH(ErfValues)(x, n, y); }

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
