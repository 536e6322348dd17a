#include "graphpae/kernels/prelu.h"

#include <numeric>

#include "graphpae/core/buffer.h"
#include "graphpae/kernels/row_ranges.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/prelu.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graphpae/kernels/columns-inl.h"
#include "graphpae/kernels/dropout-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void PreluDropout(const float* x, float slope, int64_t first, int64_t last, int64_t columns, const Dropout& dropout,
                  float* y) {
  RowKeeper keeper(dropout);
  const bool active = dropout.active();
  const float scale = active ? dropout.scale() : 1.0f;
  for (int64_t i = first; i < last; ++i) {
    const float* in = x + i * columns;
    float* out = y + i * columns;
    keeper.start_row(i);
    for_columns(0, columns, [&](auto d, int64_t j) HWY_ATTR {
      auto v = hn::LoadU(d, in + j);
      v = hn::IfThenElse(hn::Gt(v, hn::Zero(d)), v, hn::Mul(v, hn::Set(d, slope)));
      if (active) v = hn::IfThenElseZero(keeper.kept(d, j), hn::Mul(v, hn::Set(d, scale)));
      hn::StoreU(v, d, out + j);
    });
  }
}

// Adds the gradient of the slope, column by column, to sums.
void PreluDropoutBackward(const float* x, float slope, const float* d_y, int64_t first, int64_t last, int64_t columns,
                          const Dropout& dropout, float* d_x, float* sums) {
  RowKeeper keeper(dropout);
  const bool active = dropout.active();
  const float scale = active ? dropout.scale() : 1.0f;
  for (int64_t i = first; i < last; ++i) {
    const float* value = x + i * columns;
    const float* in = d_y + i * columns;
    float* out = d_x + i * columns;
    keeper.start_row(i);
    for_columns(0, columns, [&](auto d, int64_t j) HWY_ATTR {
      const auto v = hn::LoadU(d, value + j);
      auto gradient = hn::Mul(hn::LoadU(d, in + j), hn::Set(d, scale));
      if (active) gradient = hn::IfThenElseZero(keeper.kept(d, j), gradient);
      const auto below = hn::Min(v, hn::Zero(d));
      hn::StoreU(hn::MulAdd(below, gradient, hn::LoadU(d, sums + j)), d, sums + j);
      gradient = hn::IfThenElse(hn::Gt(v, hn::Zero(d)), gradient, hn::Mul(gradient, hn::Set(d, slope)));
      hn::StoreU(gradient, d, out + j);
    });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace graphpae::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE

namespace graphpae::kernels {

HWY_EXPORT(PreluDropout);
HWY_EXPORT(PreluDropoutBackward);

void prelu_dropout(const float* x, float slope, int64_t n, int64_t d, const Dropout& dropout, float* y,
                   Threads threads) {
  for_row_ranges(n, threads, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(PreluDropout)(x, slope, first, last, d, dropout, y);
  });
}

float prelu_dropout_backward(const float* x, float slope, const float* d_y, int64_t n, int64_t d,
                             const Dropout& dropout, float* d_x, Threads threads) {
  Buffer<float> sums(static_cast<size_t>(d));
  sum_over_slots(n, row_slots(n), d, sums.data(), threads, [&](int64_t first, int64_t last, float* part) {
    HWY_DYNAMIC_DISPATCH(PreluDropoutBackward)(x, slope, d_y, first, last, d, dropout, d_x, part);
  });
  return static_cast<float>(std::accumulate(sums.begin(), sums.end(), 0.0));
}

}  // namespace graphpae::kernels

#endif  // HWY_ONCE
