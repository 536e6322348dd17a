#include "graphpae/kernels/row_ops.h"

#include <algorithm>
#include <numeric>

#include "graphpae/core/buffer.h"
#include "graphpae/kernels/row_ranges.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/row_ops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graphpae/kernels/columns-inl.h"
#include "graphpae/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {

// y = dropout(activate(x)).
template <class Activate>
HWY_INLINE void ActivateRows(const float* x, int64_t first, int64_t last, int64_t columns, const Dropout& dropout,
                             float* y, const Activate& activate) {
  for_kept_elements(dropout, first, last, columns, [&](auto& keeper, auto d, int64_t at, int64_t j) HWY_ATTR {
    hn::StoreU(keeper.drop(d, j, activate(d, hn::LoadU(d, x + at))), d, y + at);
  });
}

void EluDropout(const float* x, int64_t first, int64_t last, int64_t columns, const Dropout& dropout, float* y) {
  ActivateRows(x, first, last, columns, dropout, y, [](auto d, auto v) HWY_ATTR {
    const auto zero = hn::Zero(d);
    return hn::IfThenElse(hn::Gt(v, zero), v, Expm1Negative(d, hn::Min(v, zero)));
  });
}

void EluDropoutBackward(const float* y, const float* d_y, int64_t first, int64_t last, int64_t columns,
                        const Dropout& dropout, float* d_x) {
  const float scale = dropout.active() ? dropout.scale() : 1.0f;
  const bool active = dropout.active();
  for_kept_elements(dropout, first, last, columns, [&](auto& keeper, auto d, int64_t at, int64_t j) HWY_ATTR {
    // y = scale * elu, and the slope of elu is 1 or elu + 1.
    const auto slope = hn::Add(hn::Min(hn::LoadU(d, y + at), hn::Zero(d)), hn::Set(d, scale));
    auto gradient = hn::Mul(hn::LoadU(d, d_y + at), slope);
    if (active) gradient = hn::IfThenElseZero(keeper.kept(d, j), gradient);
    hn::StoreU(gradient, d, d_x + at);
  });
}

void PreluDropout(const float* x, float slope, int64_t first, int64_t last, int64_t columns, const Dropout& dropout,
                  float* y) {
  ActivateRows(x, first, last, columns, dropout, y, [slope](auto d, auto v) HWY_ATTR {
    return hn::IfThenElse(hn::Gt(v, hn::Zero(d)), v, hn::Mul(v, hn::Set(d, slope)));
  });
}

// Adds the gradient of the slope, column by column, to sums.
void PreluDropoutBackward(const float* x, float slope, const float* d_y, int64_t first, int64_t last, int64_t columns,
                          const Dropout& dropout, float* d_x, float* sums) {
  for_kept_elements(dropout, first, last, columns, [&](auto& keeper, auto d, int64_t at, int64_t j) HWY_ATTR {
    const auto v = hn::LoadU(d, x + at);
    auto gradient = keeper.drop(d, j, hn::LoadU(d, d_y + at));
    const auto below = hn::Min(v, hn::Zero(d));
    hn::StoreU(hn::MulAdd(below, gradient, hn::LoadU(d, sums + j)), d, sums + j);
    gradient = hn::IfThenElse(hn::Gt(v, hn::Zero(d)), gradient, hn::Mul(gradient, hn::Set(d, slope)));
    hn::StoreU(gradient, d, d_x + at);
  });
}

void AddRows(const float* x, int64_t first, int64_t last, int64_t columns, float* sums) {
  constexpr int64_t kGroup = 4;  // rows per pass over the sums
  int64_t i = first;
  for (; i + kGroup <= last; i += kGroup) {
    const float* in = x + i * columns;
    for_columns(0, columns, [&](auto d, int64_t j) HWY_ATTR {
      const auto a = hn::Add(hn::LoadU(d, in + j), hn::LoadU(d, in + columns + j));
      const auto b = hn::Add(hn::LoadU(d, in + 2 * columns + j), hn::LoadU(d, in + 3 * columns + j));
      hn::StoreU(hn::Add(hn::LoadU(d, sums + j), hn::Add(a, b)), d, sums + j);
    });
  }
  for (; i < last; ++i) {
    const float* in = x + i * columns;
    for_columns(0, columns, [&](auto d, int64_t j) HWY_ATTR {
      hn::StoreU(hn::Add(hn::LoadU(d, sums + j), hn::LoadU(d, in + j)), d, sums + j);
    });
  }
}

}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {

HWY_EXPORT(EluDropout);
HWY_EXPORT(EluDropoutBackward);
HWY_EXPORT(PreluDropout);
HWY_EXPORT(PreluDropoutBackward);
HWY_EXPORT(AddRows);

void elu_dropout(const float* x, int64_t n, int64_t d, const Dropout& dropout, float* y, Threads threads) {
  for_row_ranges(n, threads, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(EluDropout)(x, first, last, d, dropout, y);
  });
}

void elu_dropout_backward(const float* y, const float* d_y, int64_t n, int64_t d, const Dropout& dropout, float* d_x,
                          Threads threads) {
  for_row_ranges(n, threads, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(EluDropoutBackward)(y, d_y, first, last, d, dropout, d_x);
  });
}

void prelu_dropout(const float* x, float slope, int64_t n, int64_t d, const Dropout& dropout, float* y,
                   Threads threads) {
  for_row_ranges(n, threads, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(PreluDropout)(x, slope, first, last, d, dropout, y);
  });
}

float prelu_dropout_backward(const float* x, float slope, const float* d_y, int64_t n, int64_t d,
                             const Dropout& dropout, float* d_x, Threads threads) {
  Buffer<float> sums(d);
  sum_over_slots(n, row_slots(n), d, sums.data(), threads, [&](int64_t first, int64_t last, float* part) {
    HWY_DYNAMIC_DISPATCH(PreluDropoutBackward)(x, slope, d_y, first, last, d, dropout, d_x, part);
  });
  return static_cast<float>(std::accumulate(sums.begin(), sums.end(), 0.0));
}

void column_sums(const float* x, int64_t n, int64_t d, float* sums, Threads threads) {
  sum_over_slots(n, row_slots(n), d, sums, threads, [&](int64_t first, int64_t last, float* partial) {
    HWY_DYNAMIC_DISPATCH(AddRows)(x, first, last, d, partial);
  });
}

void gather_rows(const float* x, const int32_t* rows, int64_t m, int64_t d, float* y, Threads threads) {
  for_row_ranges(m, threads, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) std::copy_n(x + int64_t{rows[i]} * d, d, y + i * d);
  });
}

void scatter_rows(const float* x, const int32_t* rows, int64_t m, int64_t n, int64_t d, float* y, Threads threads) {
  // The inverse index lets each row of y be written once, by one owner.
  Buffer<int32_t> from(n);
  std::fill(from.begin(), from.end(), -1);
  for (int64_t i = 0; i < m; ++i) from[rows[i]] = static_cast<int32_t>(i);
  for_row_ranges(n, threads, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int32_t source = from[i];
      if (source < 0) {
        std::fill_n(y + i * d, d, 0.0f);
      } else {
        std::copy_n(x + int64_t{source} * d, d, y + i * d);
      }
    }
  });
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
