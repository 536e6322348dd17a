#include "graphpae/kernels/row_ops.h"

#include <algorithm>
#include <cstring>

#include "graphpae/core/buffer.h"
#include "graphpae/kernels/row_ranges.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/row_ops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graphpae/kernels/columns-inl.h"
#include "graphpae/kernels/dropout-inl.h"
#include "graphpae/kernels/elementary-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

void BiasEluDropout(const float* x, const float* bias, int64_t first, int64_t last, int64_t columns,
                    const Dropout& dropout, float* y) {
  const float scale = dropout.scale();
  RowKeeper keeper(dropout);
  const bool active = dropout.active();
  for (int64_t i = first; i < last; ++i) {
    const float* in = x + i * columns;
    float* out = y + i * columns;
    keeper.start_row(i);
    for_columns(0, columns, [&](auto d, int64_t j) HWY_ATTR {
      auto v = hn::LoadU(d, in + j);
      if (bias != nullptr) v = hn::Add(v, hn::LoadU(d, bias + j));
      const auto zero = hn::Zero(d);
      v = hn::IfThenElse(hn::Gt(v, zero), v, Expm1Negative(d, hn::Min(v, zero)));
      if (active) v = hn::IfThenElseZero(keeper.kept(d, j), hn::Mul(v, hn::Set(d, scale)));
      hn::StoreU(v, d, out + j);
    });
  }
}

void BiasEluDropoutBackward(const float* y, const float* d_y, int64_t first, int64_t last, int64_t columns,
                            const Dropout& dropout, float* d_x, float* sums) {
  const float scale = dropout.active() ? dropout.scale() : 1.0f;
  RowKeeper keeper(dropout);
  const bool active = dropout.active();
  for (int64_t i = first; i < last; ++i) {
    const float* value = y + i * columns;
    const float* in = d_y + i * columns;
    float* out = d_x + i * columns;
    keeper.start_row(i);
    for_columns(0, columns, [&](auto d, int64_t j) HWY_ATTR {
      const auto v = hn::LoadU(d, value + j);
      const auto one = hn::Set(d, scale);
      // y = scale * elu, and the slope of elu is 1 or elu + 1.
      auto gradient = hn::Mul(hn::LoadU(d, in + j), hn::Add(hn::Min(v, hn::Zero(d)), one));
      if (active) gradient = hn::IfThenElseZero(keeper.kept(d, j), gradient);
      hn::StoreU(gradient, d, out + j);
      if (sums != nullptr) hn::StoreU(hn::Add(hn::LoadU(d, sums + j), gradient), d, sums + j);
    });
  }
}

void ApplyDropout(const float* x, int64_t first, int64_t last, int64_t columns, const Dropout& dropout, float* y) {
  const float scale = dropout.scale();
  RowKeeper keeper(dropout);
  for (int64_t i = first; i < last; ++i) {
    const float* in = x + i * columns;
    float* out = y + i * columns;
    keeper.start_row(i);
    for_columns(0, columns, [&](auto d, int64_t j) HWY_ATTR {
      const auto v = hn::Mul(hn::LoadU(d, in + j), hn::Set(d, scale));
      hn::StoreU(hn::IfThenElseZero(keeper.kept(d, j), v), d, out + j);
    });
  }
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

}  // namespace HWY_NAMESPACE
}  // namespace graphpae::kernels
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {

HWY_EXPORT(BiasEluDropout);
HWY_EXPORT(BiasEluDropoutBackward);
HWY_EXPORT(ApplyDropout);
HWY_EXPORT(AddRows);

void bias_elu_dropout(const float* x, const float* bias, int64_t n, int64_t d, const Dropout& dropout, float* y,
                      Threads threads) {
  for_row_ranges(n, threads, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(BiasEluDropout)(x, bias, first, last, d, dropout, y);
  });
}

void bias_elu_dropout_backward(const float* y, const float* d_y, int64_t n, int64_t d, const Dropout& dropout,
                               float* d_x, float* d_bias, Threads threads) {
  if (d_bias == nullptr) {
    for_row_ranges(n, threads, [&](int64_t first, int64_t last) {
      HWY_DYNAMIC_DISPATCH(BiasEluDropoutBackward)(y, d_y, first, last, d, dropout, d_x, nullptr);
    });
    return;
  }
  sum_over_slots(n, row_slots(n), d, d_bias, threads, [&](int64_t first, int64_t last, float* sums) {
    HWY_DYNAMIC_DISPATCH(BiasEluDropoutBackward)(y, d_y, first, last, d, dropout, d_x, sums);
  });
}

void apply_dropout(const float* x, int64_t n, int64_t d, const Dropout& dropout, float* y, Threads threads) {
  if (!dropout.active()) {
    if (x == y) return;
    for_row_ranges(n, threads,
                   [&](int64_t first, int64_t last) { std::copy(x + first * d, x + last * d, y + first * d); });
    return;
  }
  for_row_ranges(n, threads, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(ApplyDropout)(x, first, last, d, dropout, y);
  });
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
  Buffer<int32_t> from(static_cast<size_t>(n));
  std::fill(from.begin(), from.end(), -1);
  for (int64_t i = 0; i < m; ++i) from[static_cast<size_t>(rows[i])] = static_cast<int32_t>(i);
  for_row_ranges(n, threads, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i) {
      const int32_t source = from[static_cast<size_t>(i)];
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
