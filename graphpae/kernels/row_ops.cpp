#include "graphpae/kernels/row_ops.h"

#include <algorithm>
#include <cstring>

#include "graphpae/core/buffer.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/row_ops.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graphpae/kernels/dropout-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using FullTag = hn::ScalableTag<float>;
using OneTag = hn::CappedTag<float, 1>;

// Calls body(tag, j) for whole vectors of [begin, end) and then with a tag of one lane for each column that is left.
template <class Body>
HWY_INLINE void for_columns(int64_t begin, int64_t end, const Body& body) {
  const FullTag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t j = begin;
  for (; j + lanes <= end; j += lanes) body(d, j);
  for (; j < end; ++j) body(OneTag(), j);
}

// exp(x) - 1 for x <= 0, within 2 ulp. x = n ln2 + r: 2^n expm1(r) + (2^n - 1) loses nothing near zero, where n = 0.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V Expm1Negative(D d, V x) {
  const hn::RebindToSigned<D> di;
  x = hn::Max(x, hn::Set(d, -80.0f));
  const V n = hn::Round(hn::Mul(x, hn::Set(d, 1.44269504f)));
  V r = hn::NegMulAdd(n, hn::Set(d, 0.693145752f), x);
  r = hn::NegMulAdd(n, hn::Set(d, 1.42860677e-6f), r);
  V p = hn::Set(d, 1.0f / 5040);
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 720));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 120));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 24));
  p = hn::MulAdd(p, r, hn::Set(d, 1.0f / 6));
  p = hn::MulAdd(p, r, hn::Set(d, 0.5f));
  p = hn::MulAdd(hn::Mul(r, r), p, r);
  const auto bits = hn::ShiftLeft<23>(hn::Add(hn::ConvertTo(di, n), hn::Set(di, 127)));
  const V power = hn::BitCast(d, bits);
  return hn::MulAdd(power, p, hn::Sub(power, hn::Set(d, 1.0f)));
}

// keeps() of dropout.h for the columns j, j+1, ... of a row. The products of the lane numbers are made once.
class RowKeeper {
 public:
  explicit RowKeeper(const Dropout& dropout) : dropout_(dropout), threshold_(dropout.threshold()) {
    for (uint32_t lane = 0; lane < hn::MaxLanes(FullTag()); ++lane) steps_[lane] = lane * kDropoutStep;
  }

  void start_row(int64_t row) { row_hash_ = dropout_row_hash(dropout_, row); }

  template <class D>
  HWY_INLINE hn::Mask<D> kept(D d, int64_t j) const {
    const hn::RebindToUnsigned<D> du;
    const auto base = hn::Set(du, row_hash_ + static_cast<uint32_t>(j) * kDropoutStep);
    return hn::RebindMask(d, Kept(du, hn::Add(base, hn::LoadU(du, steps_)), threshold_));
  }

 private:
  const Dropout dropout_;
  const uint32_t threshold_;
  uint32_t row_hash_ = 0;
  uint32_t steps_[hn::MaxLanes(FullTag())];
};

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

void HeadLogitsBackward(const float* x, const float* a_source, const float* a_target, const float* d_source,
                        const float* d_target, int64_t first, int64_t last, int64_t columns, int64_t heads, float* d_x,
                        float* sums_source, float* sums_target) {
  const int64_t width = heads == 0 ? 0 : columns / heads;
  // Two rows share the loads of the vectors and the pass over the sums.
  int64_t i = first;
  for (; i + 2 <= last; i += 2) {
    for (int64_t h = 0; h < heads; ++h) {
      const float s0 = d_source[i * heads + h], t0 = d_target[i * heads + h];
      const float s1 = d_source[(i + 1) * heads + h], t1 = d_target[(i + 1) * heads + h];
      const float* row = x + i * columns;
      float* out = d_x + i * columns;
      for_columns(h * width, (h + 1) * width, [&](auto d, int64_t j) HWY_ATTR {
        const auto a = hn::LoadU(d, a_source + j), b = hn::LoadU(d, a_target + j);
        const auto x0 = hn::LoadU(d, row + j), x1 = hn::LoadU(d, row + columns + j);
        const auto y0 = hn::MulAdd(hn::Set(d, t0), b, hn::MulAdd(hn::Set(d, s0), a, hn::LoadU(d, out + j)));
        const auto y1 = hn::MulAdd(hn::Set(d, t1), b, hn::MulAdd(hn::Set(d, s1), a, hn::LoadU(d, out + columns + j)));
        hn::StoreU(y0, d, out + j);
        hn::StoreU(y1, d, out + columns + j);
        const auto sum_s = hn::MulAdd(hn::Set(d, s0), x0, hn::LoadU(d, sums_source + j));
        const auto sum_t = hn::MulAdd(hn::Set(d, t0), x0, hn::LoadU(d, sums_target + j));
        hn::StoreU(hn::MulAdd(hn::Set(d, s1), x1, sum_s), d, sums_source + j);
        hn::StoreU(hn::MulAdd(hn::Set(d, t1), x1, sum_t), d, sums_target + j);
      });
    }
  }
  for (; i < last; ++i) {
    for (int64_t h = 0; h < heads; ++h) {
      const float s = d_source[i * heads + h], t = d_target[i * heads + h];
      const float* row = x + i * columns;
      float* out = d_x + i * columns;
      for_columns(h * width, (h + 1) * width, [&](auto d, int64_t j) HWY_ATTR {
        const auto a = hn::LoadU(d, a_source + j), b = hn::LoadU(d, a_target + j), v = hn::LoadU(d, row + j);
        hn::StoreU(hn::MulAdd(hn::Set(d, t), b, hn::MulAdd(hn::Set(d, s), a, hn::LoadU(d, out + j))), d, out + j);
        hn::StoreU(hn::MulAdd(hn::Set(d, s), v, hn::LoadU(d, sums_source + j)), d, sums_source + j);
        hn::StoreU(hn::MulAdd(hn::Set(d, t), v, hn::LoadU(d, sums_target + j)), d, sums_target + j);
      });
    }
  }
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

void NarrowInputGradient(const float* v_t, const float* d_y, int64_t first, int64_t last, int64_t columns,
                         int64_t stride, int64_t k, float* d_x) {
  int64_t i = first;
  for (; i + 4 <= last; i += 4) {
    const float* in = d_y + i * k;
    float* out = d_x + i * columns;
    for_columns(0, columns, [&](auto d, int64_t j) HWY_ATTR {
      auto s0 = hn::Zero(d), s1 = hn::Zero(d), s2 = hn::Zero(d), s3 = hn::Zero(d);
      for (int64_t c = 0; c < k; ++c) {
        const auto factor = hn::LoadU(d, v_t + c * stride + j);
        s0 = hn::MulAdd(hn::Set(d, in[c]), factor, s0);
        s1 = hn::MulAdd(hn::Set(d, in[k + c]), factor, s1);
        s2 = hn::MulAdd(hn::Set(d, in[2 * k + c]), factor, s2);
        s3 = hn::MulAdd(hn::Set(d, in[3 * k + c]), factor, s3);
      }
      hn::StoreU(s0, d, out + j);
      hn::StoreU(s1, d, out + columns + j);
      hn::StoreU(s2, d, out + 2 * columns + j);
      hn::StoreU(s3, d, out + 3 * columns + j);
    });
  }
  for (; i < last; ++i) {
    const float* in = d_y + i * k;
    float* out = d_x + i * columns;
    for_columns(0, columns, [&](auto d, int64_t j) HWY_ATTR {
      auto sum = hn::Zero(d);
      for (int64_t c = 0; c < k; ++c) sum = hn::MulAdd(hn::Set(d, in[c]), hn::LoadU(d, v_t + c * stride + j), sum);
      hn::StoreU(sum, d, out + j);
    });
  }
}

// sums_t [K,D] += d_y^T x over the rows; four rows per pass over the sums.
void NarrowWeightGradient(const float* x, const float* d_y, int64_t first, int64_t last, int64_t columns,
                          int64_t stride, int64_t k, float* sums_t) {
  int64_t i = first;
  for (; i + 4 <= last; i += 4) {
    const float* in = x + i * columns;
    const float* g = d_y + i * k;
    for_columns(0, columns, [&](auto d, int64_t j) HWY_ATTR {
      const auto x0 = hn::LoadU(d, in + j), x1 = hn::LoadU(d, in + columns + j);
      const auto x2 = hn::LoadU(d, in + 2 * columns + j), x3 = hn::LoadU(d, in + 3 * columns + j);
      for (int64_t c = 0; c < k; ++c) {
        auto sum = hn::LoadU(d, sums_t + c * stride + j);
        sum = hn::MulAdd(hn::Set(d, g[c]), x0, sum);
        sum = hn::MulAdd(hn::Set(d, g[k + c]), x1, sum);
        sum = hn::MulAdd(hn::Set(d, g[2 * k + c]), x2, sum);
        sum = hn::MulAdd(hn::Set(d, g[3 * k + c]), x3, sum);
        hn::StoreU(sum, d, sums_t + c * stride + j);
      }
    });
  }
  for (; i < last; ++i) {
    const float* in = x + i * columns;
    const float* g = d_y + i * k;
    for_columns(0, columns, [&](auto d, int64_t j) HWY_ATTR {
      const auto value = hn::LoadU(d, in + j);
      for (int64_t c = 0; c < k; ++c) {
        float* sum = sums_t + c * stride + j;
        hn::StoreU(hn::MulAdd(hn::Set(d, g[c]), value, hn::LoadU(d, sum)), d, sum);
      }
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
HWY_EXPORT(HeadLogits);
HWY_EXPORT(HeadLogitsBackward);
HWY_EXPORT(NarrowProduct);
HWY_EXPORT(NarrowInputGradient);
HWY_EXPORT(NarrowWeightGradient);

namespace {

// Small inputs start small teams.
int team_for(int64_t tasks, Threads threads) { return static_cast<int>(std::min<int64_t>(tasks, threads.count)); }

// Runs body(first, last) over fixed ranges of rows.
template <class Body>
void for_row_ranges(int64_t n, Threads threads, const Body& body) {
  const int64_t parts = row_slots(n);
#pragma omp parallel num_threads(team_for(parts, threads))
  {
    flush_denormals();
#pragma omp for schedule(static)
    for (int64_t part = 0; part < parts; ++part) {
      const auto [first, last] = part_of(n, part, parts);
      body(first, last);
    }
  }
}

// Runs body(first, last, sums) for each of `slots` ranges of rows with sums [width] that start at zero, then sets
// total[j] to the sums of all slots, added in the order of the slots.
template <class Body>
void sum_over_slots(int64_t n, int64_t slots, int64_t width, float* total, Threads threads, const Body& body) {
  Buffer<float> sums(static_cast<size_t>(slots * width));
  constexpr int64_t kRun = 256;  // columns of the last addition that one thread takes at a time
#pragma omp parallel num_threads(team_for(slots, threads))
  {
    flush_denormals();
#pragma omp for schedule(static)
    for (int64_t slot = 0; slot < slots; ++slot) {
      const auto [first, last] = part_of(n, slot, slots);
      std::fill_n(sums.data() + slot * width, width, 0.0f);
      body(first, last, sums.data() + slot * width);
    }
#pragma omp for schedule(static)
    for (int64_t begin = 0; begin < width; begin += kRun) {
      const int64_t end = std::min(width, begin + kRun);
      for (int64_t j = begin; j < end; ++j) total[j] = 0;
      for (int64_t slot = 0; slot < slots; ++slot) {
        for (int64_t j = begin; j < end; ++j) total[j] += sums[static_cast<size_t>(slot * width + j)];
      }
    }
  }
}

// Rows that are a multiple of 4 KB apart share the same few lines of the L1 cache: an odd number of lines apart is
// best.
int64_t padded(int64_t d) { return d / 32 * 32 + 48; }

Buffer<float> transpose_small(const float* v, int64_t d, int64_t k) {
  Buffer<float> result(static_cast<size_t>(padded(d) * k));
  for (int64_t j = 0; j < d; ++j) {
    for (int64_t c = 0; c < k; ++c) result[static_cast<size_t>(c * padded(d) + j)] = v[j * k + c];
  }
  return result;
}

}  // namespace

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

void head_logits(const float* x, const float* a_source, const float* a_target, int64_t n, int64_t d, int64_t heads,
                 float* source, float* target, Threads threads) {
  for_row_ranges(n, threads, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(HeadLogits)(x, a_source, a_target, first, last, d, heads, source, target);
  });
}

void head_logits_backward(const float* x, const float* a_source, const float* a_target, const float* d_source,
                          const float* d_target, int64_t n, int64_t d, int64_t heads, float* d_x, float* d_a_source,
                          float* d_a_target, Threads threads) {
  Buffer<float> both(static_cast<size_t>(2 * d));
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
  if (d_v != nullptr) {
    // The sums are K times as wide as a row: fewer slots, so that they are small beside x.
    const int64_t slots = std::min<int64_t>(row_slots(n), 16);
    Buffer<float> sums_t(static_cast<size_t>(padded(d) * k));
    sum_over_slots(n, slots, padded(d) * k, sums_t.data(), threads, [&](int64_t first, int64_t last, float* sums) {
      HWY_DYNAMIC_DISPATCH(NarrowWeightGradient)(x, d_y, first, last, d, padded(d), k, sums);
    });
    for (int64_t j = 0; j < d; ++j) {
      for (int64_t c = 0; c < k; ++c) d_v[j * k + c] = sums_t[static_cast<size_t>(c * padded(d) + j)];
    }
  }
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
