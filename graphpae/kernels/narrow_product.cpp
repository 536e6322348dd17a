#include "graphpae/kernels/narrow_product.h"

#include <algorithm>

#include "graphpae/core/buffer.h"
#include "graphpae/kernels/row_ranges.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/narrow_product.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graphpae/kernels/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {

void HeadLogits(const float* x, const float* a_source, const float* a_target, int64_t first, int64_t last,
                int64_t columns, int64_t heads, float* source, float* target) {
  const FullTag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t width = heads == 0 ? 0 : columns / heads;
  for (int64_t i = first; i < last; ++i) {
    for (int64_t h = 0; h < heads; ++h) {
      const float* row = x + i * columns + h * width;
      const float* s = a_source + h * width;
      const float* t = a_target + h * width;
      auto s0 = hn::Zero(d), s1 = hn::Zero(d), t0 = hn::Zero(d), t1 = hn::Zero(d);
      int64_t j = 0;
      for (; j + 2 * lanes <= width; j += 2 * lanes) {
        const auto v0 = hn::LoadU(d, row + j), v1 = hn::LoadU(d, row + j + lanes);
        s0 = hn::MulAdd(v0, hn::LoadU(d, s + j), s0);
        s1 = hn::MulAdd(v1, hn::LoadU(d, s + j + lanes), s1);
        t0 = hn::MulAdd(v0, hn::LoadU(d, t + j), t0);
        t1 = hn::MulAdd(v1, hn::LoadU(d, t + j + lanes), t1);
      }
      for (; j + lanes <= width; j += lanes) {
        const auto v0 = hn::LoadU(d, row + j);
        s0 = hn::MulAdd(v0, hn::LoadU(d, s + j), s0);
        t0 = hn::MulAdd(v0, hn::LoadU(d, t + j), t0);
      }
      float sum_s = hn::GetLane(hn::SumOfLanes(d, hn::Add(s0, s1)));
      float sum_t = hn::GetLane(hn::SumOfLanes(d, hn::Add(t0, t1)));
      for (; j < width; ++j) {
        sum_s += row[j] * s[j];
        sum_t += row[j] * t[j];
      }
      source[i * heads + h] = sum_s;
      target[i * heads + h] = sum_t;
    }
  }
}

// kRows rows share the loads of the vectors and the pass over the sums.
template <int kRows>
HWY_INLINE void HeadLogitsBackwardRows(const float* x, const float* a_source, const float* a_target,
                                       const float* d_source, const float* d_target, int64_t columns, int64_t heads,
                                       float* d_x, float* sums_source, float* sums_target) {
  const int64_t width = heads == 0 ? 0 : columns / heads;
  for (int64_t h = 0; h < heads; ++h) {
    for_columns(h * width, (h + 1) * width, [&](auto d, int64_t j) HWY_ATTR {
      const auto a = hn::LoadU(d, a_source + j), b = hn::LoadU(d, a_target + j);
      auto sum_s = hn::LoadU(d, sums_source + j), sum_t = hn::LoadU(d, sums_target + j);
      for (int r = 0; r < kRows; ++r) {
        const auto s = hn::Set(d, d_source[r * heads + h]), t = hn::Set(d, d_target[r * heads + h]);
        const auto value = hn::LoadU(d, x + r * columns + j);
        float* out = d_x + r * columns + j;
        hn::StoreU(hn::MulAdd(t, b, hn::MulAdd(s, a, hn::LoadU(d, out))), d, out);
        sum_s = hn::MulAdd(s, value, sum_s);
        sum_t = hn::MulAdd(t, value, sum_t);
      }
      hn::StoreU(sum_s, d, sums_source + j);
      hn::StoreU(sum_t, d, sums_target + j);
    });
  }
}

void HeadLogitsBackward(const float* x, const float* a_source, const float* a_target, const float* d_source,
                        const float* d_target, int64_t first, int64_t last, int64_t columns, int64_t heads, float* d_x,
                        float* sums_source, float* sums_target) {
  const auto run = [&]<int kRows>(int64_t i) HWY_ATTR {
    HeadLogitsBackwardRows<kRows>(x + i * columns, a_source, a_target, d_source + i * heads, d_target + i * heads,
                                  columns, heads, d_x + i * columns, sums_source, sums_target);
  };
  int64_t i = first;
  for (; i + 2 <= last; i += 2) run.template operator()<2>(i);
  for (; i < last; ++i) run.template operator()<1>(i);
}

// y[r, c] = x[r,:] . v_t[c,:] for kRows rows and kColumns columns, whose sums stay in registers.
template <int kRows, int kColumns>
HWY_INLINE void NarrowTile(const float* HWY_RESTRICT x, const float* HWY_RESTRICT v_t, int64_t columns, int64_t stride,
                           int64_t k, float* HWY_RESTRICT y) {
  const FullTag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<FullTag> sums[kRows][kColumns];
  for (auto& row : sums) {
    for (auto& sum : row) sum = hn::Zero(d);
  }
  int64_t j = 0;
  for (; j + lanes <= columns; j += lanes) {
    hn::Vec<FullTag> factors[kColumns];
    for (int c = 0; c < kColumns; ++c) factors[c] = hn::LoadU(d, v_t + c * stride + j);
    for (int r = 0; r < kRows; ++r) {
      const auto value = hn::LoadU(d, x + r * columns + j);
      for (int c = 0; c < kColumns; ++c) sums[r][c] = hn::MulAdd(value, factors[c], sums[r][c]);
    }
  }
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kColumns; ++c) {
      float total = hn::GetLane(hn::SumOfLanes(d, sums[r][c]));
      for (int64_t i = j; i < columns; ++i) total += x[r * columns + i] * v_t[c * stride + i];
      y[r * k + c] = total;
    }
  }
}

template <int kRows>
HWY_INLINE void NarrowRows(const float* x, const float* v_t, int64_t columns, int64_t stride, int64_t k, float* y) {
  int64_t c = 0;
  for (; c + 3 <= k; c += 3) NarrowTile<kRows, 3>(x, v_t + c * stride, columns, stride, k, y + c);
  for (; c < k; ++c) NarrowTile<kRows, 1>(x, v_t + c * stride, columns, stride, k, y + c);
}

// v_t is [K,D] with rows `stride` apart.
void NarrowProduct(const float* x, const float* v_t, int64_t first, int64_t last, int64_t columns, int64_t stride,
                   int64_t k, float* y) {
  int64_t i = first;
  for (; i + 4 <= last; i += 4) NarrowRows<4>(x + i * columns, v_t, columns, stride, k, y + i * k);
  for (; i < last; ++i) NarrowRows<1>(x + i * columns, v_t, columns, stride, k, y + i * k);
}

template <int kRows>
HWY_INLINE void InputGradientRows(const float* v_t, const float* d_y, int64_t columns, int64_t stride, int64_t k,
                                  float* d_x) {
  for_columns(0, columns, [&](auto d, int64_t j) HWY_ATTR {
    hn::Vec<decltype(d)> sums[kRows];
    for (auto& sum : sums) sum = hn::Zero(d);
    for (int64_t c = 0; c < k; ++c) {
      const auto factor = hn::LoadU(d, v_t + c * stride + j);
      for (int r = 0; r < kRows; ++r) sums[r] = hn::MulAdd(hn::Set(d, d_y[r * k + c]), factor, sums[r]);
    }
    for (int r = 0; r < kRows; ++r) hn::StoreU(sums[r], d, d_x + r * columns + j);
  });
}

void NarrowInputGradient(const float* v_t, const float* d_y, int64_t first, int64_t last, int64_t columns,
                         int64_t stride, int64_t k, float* d_x) {
  int64_t i = first;
  for (; i + 4 <= last; i += 4) InputGradientRows<4>(v_t, d_y + i * k, columns, stride, k, d_x + i * columns);
  for (; i < last; ++i) InputGradientRows<1>(v_t, d_y + i * k, columns, stride, k, d_x + i * columns);
}

template <int kRows>
HWY_INLINE void WeightGradientRows(const float* x, const float* d_y, int64_t columns, int64_t stride, int64_t k,
                                   float* sums_t) {
  for_columns(0, columns, [&](auto d, int64_t j) HWY_ATTR {
    hn::Vec<decltype(d)> values[kRows];
    for (int r = 0; r < kRows; ++r) values[r] = hn::LoadU(d, x + r * columns + j);
    for (int64_t c = 0; c < k; ++c) {
      auto sum = hn::LoadU(d, sums_t + c * stride + j);
      for (int r = 0; r < kRows; ++r) sum = hn::MulAdd(hn::Set(d, d_y[r * k + c]), values[r], sum);
      hn::StoreU(sum, d, sums_t + c * stride + j);
    }
  });
}

// sums_t [K,D] += d_y^T x over the rows; four rows per pass over the sums.
void NarrowWeightGradient(const float* x, const float* d_y, int64_t first, int64_t last, int64_t columns,
                          int64_t stride, int64_t k, float* sums_t) {
  int64_t i = first;
  for (; i + 4 <= last; i += 4) WeightGradientRows<4>(x + i * columns, d_y + i * k, columns, stride, k, sums_t);
  for (; i < last; ++i) WeightGradientRows<1>(x + i * columns, d_y + i * k, columns, stride, k, sums_t);
}

}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {

HWY_EXPORT(HeadLogits);
HWY_EXPORT(HeadLogitsBackward);
HWY_EXPORT(NarrowProduct);
HWY_EXPORT(NarrowInputGradient);
HWY_EXPORT(NarrowWeightGradient);

namespace {

// Rows that are a multiple of 4 KB apart share the same few lines of the L1 cache: an odd number of lines apart is
// best.
int64_t padded(int64_t d) { return d / 32 * 32 + 48; }

Buffer<float> transpose_small(const float* v, int64_t d, int64_t k) {
  Buffer<float> result(padded(d) * k);
  for (int64_t j = 0; j < d; ++j) {
    for (int64_t c = 0; c < k; ++c) result[c * padded(d) + j] = v[j * k + c];
  }
  return result;
}

}  // namespace

void head_logits(const float* x, const float* a_source, const float* a_target, int64_t n, int64_t d, int64_t heads,
                 float* source, float* target, Threads threads) {
  for_row_ranges(n, threads, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(HeadLogits)(x, a_source, a_target, first, last, d, heads, source, target);
  });
}

void head_logits_backward(const float* x, const float* a_source, const float* a_target, const float* d_source,
                          const float* d_target, int64_t n, int64_t d, int64_t heads, float* d_x, float* d_a_source,
                          float* d_a_target, Threads threads) {
  Buffer<float> both(2 * d);
  sum_over_slots(n, row_slots(n), 2 * d, both.data(), threads, [&](int64_t first, int64_t last, float* sums) {
    HWY_DYNAMIC_DISPATCH(HeadLogitsBackward)
    (x, a_source, a_target, d_source, d_target, first, last, d, heads, d_x, sums, sums + d);
  });
  std::copy_n(both.data(), d, d_a_source);
  std::copy_n(both.data() + d, d, d_a_target);
}

void narrow_product(const float* x, const float* v, int64_t n, int64_t d, int64_t k, float* y, Threads threads) {
  const Buffer<float> v_t = transpose_small(v, d, k);
  for_row_ranges(n, threads, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(NarrowProduct)(x, v_t.data(), first, last, d, padded(d), k, y);
  });
}

void narrow_product_backward(const float* x, const float* v, const float* d_y, int64_t n, int64_t d, int64_t k,
                             float* d_x, float* d_v, Threads threads) {
  if (d_x != nullptr) {
    const Buffer<float> v_t = transpose_small(v, d, k);
    for_row_ranges(n, threads, [&](int64_t first, int64_t last) {
      HWY_DYNAMIC_DISPATCH(NarrowInputGradient)(v_t.data(), d_y, first, last, d, padded(d), k, d_x);
    });
  }
  // The sums are K times as wide as a row: fewer slots, so that they are small beside x.
  const int64_t slots = std::min<int64_t>(row_slots(n), 16);
  Buffer<float> sums_t(padded(d) * k);
  sum_over_slots(n, slots, padded(d) * k, sums_t.data(), threads, [&](int64_t first, int64_t last, float* sums) {
    HWY_DYNAMIC_DISPATCH(NarrowWeightGradient)(x, d_y, first, last, d, padded(d), k, sums);
  });
  for (int64_t j = 0; j < d; ++j) {
    for (int64_t c = 0; c < k; ++c) d_v[j * k + c] = sums_t[c * padded(d) + j];
  }
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
