#include "graphpae/kernels/batch_norm.h"

#include <algorithm>
#include <vector>

#include "graphpae/core/buffer.h"
#include "graphpae/kernels/row_ranges.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/batch_norm.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graphpae/kernels/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {

// The mean of the rows [first, last) and the sum of squared distances to it: two passes over rows that are in the
// cache.
void RangeMoments(const float* x, int64_t first, int64_t last, int64_t width, float* mean, float* squares) {
  std::fill_n(mean, width, 0.0f);
  std::fill_n(squares, width, 0.0f);
  for (int64_t i = first; i < last; ++i) {
    for_elements(0, width, [&](auto d, int64_t j) HWY_ATTR {
      hn::StoreU(hn::Add(hn::LoadU(d, mean + j), hn::LoadU(d, x + i * width + j)), d, mean + j);
    });
  }
  const float share = 1.0f / static_cast<float>(std::max<int64_t>(last - first, 1));
  for (int64_t j = 0; j < width; ++j) mean[j] *= share;
  for (int64_t i = first; i < last; ++i) {
    for_elements(0, width, [&](auto d, int64_t j) HWY_ATTR {
      const auto distance = hn::Sub(hn::LoadU(d, x + i * width + j), hn::LoadU(d, mean + j));
      hn::StoreU(hn::MulAdd(distance, distance, hn::LoadU(d, squares + j)), d, squares + j);
    });
  }
}

void Normalise(const BatchNorm& norm, const float* x, int64_t first, int64_t last, float* y) {
  for_kept_elements(norm.dropout, first, last, norm.width, [&](auto& keeper, auto d, int64_t at, int64_t j) HWY_ATTR {
    const auto unit =
        hn::Mul(hn::Sub(hn::LoadU(d, x + at), hn::LoadU(d, norm.mean + j)), hn::LoadU(d, norm.inverse + j));
    auto v = hn::MulAdd(unit, hn::LoadU(d, norm.weight + j), hn::LoadU(d, norm.bias + j));
    if (norm.relu) v = hn::Max(v, hn::Zero(d));
    hn::StoreU(keeper.drop(d, j, v), d, y + at);
  });
}

// What comes through dropout and activation of an element: its unit value and the gradient of its affine value.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Arriving(D d, const BatchNorm& norm, const RowKeeper& keeper, const float* x, const float* d_y, int64_t j,
                      V& unit) {
  unit = hn::Mul(hn::Sub(hn::LoadU(d, x), hn::LoadU(d, norm.mean + j)), hn::LoadU(d, norm.inverse + j));
  V gradient = hn::LoadU(d, d_y);
  if (norm.relu) {
    const V v = hn::MulAdd(unit, hn::LoadU(d, norm.weight + j), hn::LoadU(d, norm.bias + j));
    gradient = hn::IfThenElseZero(hn::Gt(v, hn::Zero(d)), gradient);
  }
  return keeper.drop(d, j, gradient);
}

// sums [2,D]: of the gradients, and of the gradients times the unit values.
void SumGradients(const BatchNorm& norm, const float* x, const float* d_y, int64_t first, int64_t last, float* sums) {
  const int64_t width = norm.width;
  for_kept_elements(norm.dropout, first, last, width, [&](auto& keeper, auto d, int64_t at, int64_t j) HWY_ATTR {
    auto unit = hn::Zero(d);
    const auto gradient = Arriving(d, norm, keeper, x + at, d_y + at, j, unit);
    hn::StoreU(hn::Add(hn::LoadU(d, sums + j), gradient), d, sums + j);
    hn::StoreU(hn::MulAdd(gradient, unit, hn::LoadU(d, sums + width + j)), d, sums + width + j);
  });
}

// Means [D] of what SumGradients sums.
void NormaliseBackward(const BatchNorm& norm, const float* x, const float* d_y, int64_t first, int64_t last,
                       const float* mean_bias, const float* mean_weight, float* d_x) {
  for_kept_elements(norm.dropout, first, last, norm.width, [&](auto& keeper, auto d, int64_t at, int64_t j) HWY_ATTR {
    auto unit = hn::Zero(d);
    auto gradient = Arriving(d, norm, keeper, x + at, d_y + at, j, unit);
    gradient = hn::Sub(gradient, hn::MulAdd(unit, hn::LoadU(d, mean_weight + j), hn::LoadU(d, mean_bias + j)));
    const auto slope = hn::Mul(hn::LoadU(d, norm.weight + j), hn::LoadU(d, norm.inverse + j));
    hn::StoreU(hn::Mul(gradient, slope), d, d_x + at);
  });
}

}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {

HWY_EXPORT(RangeMoments);
HWY_EXPORT(Normalise);
HWY_EXPORT(SumGradients);
HWY_EXPORT(NormaliseBackward);

void column_moments(const float* x, int64_t n, int64_t d, double* mean, double* squares, Threads threads) {
  const int64_t slots = row_slots(n);
  Buffer<float> parts(slots * 2 * d);
  for_parts(slots, team_for(slots, threads), [&](int64_t slot) {
    const auto [first, last] = part_of(n, slot, slots);
    float* part = parts.data() + slot * 2 * d;
    HWY_DYNAMIC_DISPATCH(RangeMoments)(x, first, last, d, part, part + d);
  });
  // The moments of a union: distances to its mean are those to the parts' means and from those to it.
  std::fill_n(mean, d, 0.0);
  std::fill_n(squares, d, 0.0);
  const auto over_slots = [&](const auto& body) {
    for (int64_t slot = 0; slot < slots; ++slot) {
      const auto [first, last] = part_of(n, slot, slots);
      const float* part = parts.data() + slot * 2 * d;
      for (int64_t j = 0; j < d; ++j) body(j, static_cast<double>(last - first), part[j], part[d + j]);
    }
  };
  const double all = static_cast<double>(std::max<int64_t>(n, 1));
  over_slots([&](int64_t j, double count, double part_mean, double) { mean[j] += count * part_mean; });
  for (int64_t j = 0; j < d; ++j) mean[j] /= all;
  over_slots([&](int64_t j, double count, double part_mean, double part_squares) {
    squares[j] += part_squares + count * (part_mean - mean[j]) * (part_mean - mean[j]);
  });
}

void batch_norm(const BatchNorm& norm, const float* x, int64_t n, float* y, Threads threads) {
  for_row_ranges(n, threads, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(Normalise)(norm, x, first, last, y);
  });
}

void batch_norm_parameter_gradients(const BatchNorm& norm, const float* x, const float* d_y, int64_t n, float* d_bias,
                                    float* d_weight, Threads threads) {
  const int64_t d = norm.width;
  Buffer<float> sums(2 * d);
  sum_over_slots(n, row_slots(n), 2 * d, sums.data(), threads, [&](int64_t first, int64_t last, float* part) {
    HWY_DYNAMIC_DISPATCH(SumGradients)(norm, x, d_y, first, last, part);
  });
  std::copy_n(sums.data(), d, d_bias);
  std::copy_n(sums.data() + d, d, d_weight);
}

void batch_norm_backward(const BatchNorm& norm, const float* x, const float* d_y, int64_t n, const float* mean_bias,
                         const float* mean_weight, float* d_x, Threads threads) {
  for_row_ranges(n, threads, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(NormaliseBackward)(norm, x, d_y, first, last, mean_bias, mean_weight, d_x);
  });
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
