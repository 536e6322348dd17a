#include "graphpae/kernels/attention.h"

#include <algorithm>
#include <limits>

#include "graphpae/kernels/row_ranges.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graphpae/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {
namespace {

constexpr int64_t kMaxHeads = 64;

// kHeads is a constant for the common numbers of heads and 0 for any other.
template <int kHeads>
HWY_INLINE int64_t Heads(int64_t heads) {
  return kHeads > 0 ? kHeads : heads;
}

// If the heads of an edge fill a vector a whole number of times, lane l of every vector of a target's edges belongs to
// head l % heads: the edges of a target are one array and there is no inner loop over heads.
template <int kHeads>
constexpr bool kPeriodic = kHeads > 0 && kLanes % (kHeads > 0 ? kHeads : 1) == 0;

// `kHeads` numbers repeated over the lanes.
template <int kHeads>
HWY_INLINE Vector Repeat(const float* HWY_RESTRICT row) {
  const Floats d;
  if constexpr (kHeads == kLanes) {
    return hn::LoadU(d, row);
#if HWY_TARGET != HWY_SCALAR
  } else if constexpr (kHeads == 4) {
    return hn::LoadDup128(d, row);
#endif
  } else {
    HWY_ALIGN float lanes[kLanes];
    for (int64_t l = 0; l < kLanes; ++l) lanes[l] = row[l % kHeads];
    return hn::Load(d, lanes);
  }
}

// The first (lanes / heads) rows named by `index`, side by side.
template <int kHeads, class D>
HWY_INLINE hn::Vec<D> LoadRows(D d, const float* HWY_RESTRICT table, const int32_t* HWY_RESTRICT index) {
  constexpr int64_t kWidth = hn::MaxLanes(D());
  if constexpr (kHeads == kWidth) {
    return hn::LoadU(d, table + int64_t{index[0]} * kHeads);
#if HWY_TARGET != HWY_SCALAR
  } else if constexpr (kHeads >= 4) {
    const hn::Half<D> half;
    return hn::Combine(d, LoadRows<kHeads>(half, table, index + kWidth / 2 / kHeads),
                       LoadRows<kHeads>(half, table, index));
#endif
  } else {
    HWY_ALIGN float lanes[kWidth];
    for (int64_t l = 0; l < kWidth; ++l) lanes[l] = table[int64_t{index[l / kHeads]} * kHeads + l % kHeads];
    return hn::Load(d, lanes);
  }
}

// Combines lanes of the same head: the result is in every lane of that head.
template <int kHeads, class Combine>
HWY_INLINE Vector OverEdges(Vector v, const Combine& combine) {
  const Floats d;
  if constexpr (kHeads == kLanes) {
    return v;
  } else {
    HWY_ALIGN float lanes[kLanes];
    hn::Store(v, d, lanes);
    for (int64_t step = kLanes / 2; step >= kHeads; step /= 2) {
      for (int64_t l = 0; l < step; ++l) lanes[l] = combine(lanes[l], lanes[l + step]);
    }
    for (int64_t l = kHeads; l < kLanes; ++l) lanes[l] = lanes[l % kHeads];
    return hn::Load(d, lanes);
  }
}

// The last, partial vector of a target's edges: `fill` in the lanes beyond.
HWY_INLINE Vector LoadPart(const float* HWY_RESTRICT from, int64_t count, float fill) {
  HWY_ALIGN float lanes[kLanes];
  for (int64_t l = 0; l < kLanes; ++l) lanes[l] = l < count ? from[l] : fill;
  return hn::Load(Floats(), lanes);
}
HWY_INLINE void StorePart(Vector v, float* to, int64_t count) {
  HWY_ALIGN float lanes[kLanes];
  hn::Store(v, Floats(), lanes);
  for (int64_t l = 0; l < count; ++l) to[l] = lanes[l];
}

HWY_INLINE Vector LeakyRelu(Vector x, Vector slope) {
  return hn::IfThenElse(hn::Gt(x, hn::Zero(Floats())), x, hn::Mul(x, slope));
}

// refined of edges [first, last), all into one target.
template <int kHeads>
HWY_INLINE void SumLogits(const int32_t* HWY_RESTRICT sources, int64_t first, int64_t last, int64_t any_heads,
                          const float* HWY_RESTRICT source_logits, const float* HWY_RESTRICT target,
                          const float* HWY_RESTRICT positions, float* HWY_RESTRICT refined) {
  const int64_t heads = Heads<kHeads>(any_heads);
  int64_t e = first;
  if constexpr (kPeriodic<kHeads>) {
    const Floats d;
    const auto at_target = Repeat<kHeads>(target);
    for (; e + kLanes / kHeads <= last; e += kLanes / kHeads) {
      const auto ends = hn::Add(LoadRows<kHeads>(d, source_logits, sources + e), at_target);
      hn::StoreU(hn::Add(ends, hn::LoadU(d, positions + e * kHeads)), d, refined + e * kHeads);
    }
  }
  for (; e < last; ++e) {
    const float* source = source_logits + sources[e] * heads;
    for (int64_t h = 0; h < heads; ++h) refined[e * heads + h] = (source[h] + target[h]) + positions[e * heads + h];
  }
}

template <int kHeads>
void SoftmaxPeriodic(int64_t count, float slope, const float* HWY_RESTRICT refined, float* HWY_RESTRICT alpha) {
  const Floats d;
  const float lowest = -std::numeric_limits<float>::infinity();
  const auto factor = hn::Set(d, slope);
  const int64_t whole = count - count % kLanes;
  auto most = hn::Set(d, lowest);
  for (int64_t k = 0; k < whole; k += kLanes) most = hn::Max(most, LeakyRelu(hn::LoadU(d, refined + k), factor));
  const bool partial = whole < count;
  auto rest = hn::Zero(d);
  if (partial) {
    rest = LeakyRelu(LoadPart(refined + whole, count - whole, 0), factor);
    // Lanes without an edge do not count: they take the value of an edge of the same head.
    HWY_ALIGN float lanes[kLanes];
    hn::Store(rest, d, lanes);
    for (int64_t l = count - whole; l < kLanes; ++l) lanes[l] = lanes[l % kHeads];
    most = hn::Max(most, hn::Load(d, lanes));
  }
  most = OverEdges<kHeads>(most, [](float a, float b) { return std::max(a, b); });
  auto sum = hn::Zero(d);
  for (int64_t k = 0; k < whole; k += kLanes) {
    const auto power = Exp(d, hn::Sub(LeakyRelu(hn::LoadU(d, refined + k), factor), most));
    sum = hn::Add(sum, power);
    hn::StoreU(power, d, alpha + k);
  }
  if (partial) {
    StorePart(Exp(d, hn::Sub(rest, most)), alpha + whole, count - whole);
    rest = LoadPart(alpha + whole, count - whole, 0);
    sum = hn::Add(sum, rest);
  }
  sum = OverEdges<kHeads>(sum, [](float a, float b) { return a + b; });
  const auto inverse = hn::Div(hn::Set(d, 1.0f), sum);
  for (int64_t k = 0; k < whole; k += kLanes) hn::StoreU(hn::Mul(hn::LoadU(d, alpha + k), inverse), d, alpha + k);
  if (partial) StorePart(hn::Mul(rest, inverse), alpha + whole, count - whole);
}

void SoftmaxAny(int64_t edges, int64_t heads, float slope, const float* HWY_RESTRICT refined,
                float* HWY_RESTRICT alpha) {
  const Floats d;
  float most[kMaxHeads], sum[kMaxHeads];
  std::fill_n(most, heads, -std::numeric_limits<float>::infinity());
  std::fill_n(sum, heads, 0.0f);
  const auto leaky = [slope](float x) { return x > 0 ? x : slope * x; };
  for (int64_t e = 0; e < edges; ++e) {
    for (int64_t h = 0; h < heads; ++h) most[h] = std::max(most[h], leaky(refined[e * heads + h]));
  }
  for (int64_t e = 0; e < edges; ++e) {
    for (int64_t h = 0; h < heads; ++h) alpha[e * heads + h] = leaky(refined[e * heads + h]) - most[h];
  }
  const int64_t count = edges * heads, whole = count - count % kLanes;
  for (int64_t k = 0; k < whole; k += kLanes) hn::StoreU(Exp(d, hn::LoadU(d, alpha + k)), d, alpha + k);
  if (whole < count) StorePart(Exp(d, LoadPart(alpha + whole, count - whole, 0)), alpha + whole, count - whole);
  for (int64_t e = 0; e < edges; ++e) {
    for (int64_t h = 0; h < heads; ++h) sum[h] += alpha[e * heads + h];
  }
  for (int64_t h = 0; h < heads; ++h) sum[h] = 1 / sum[h];
  for (int64_t e = 0; e < edges; ++e) {
    for (int64_t h = 0; h < heads; ++h) alpha[e * heads + h] *= sum[h];
  }
}

template <int kHeads>
void ForwardRows(const EdgeIndex& edges, int64_t heads, float slope, const float* source_logits,
                 const float* target_logits, const float* positions, float* refined, float* alpha, int64_t first,
                 int64_t last) {
  const int64_t* offsets = edges.offsets().data();
  const int32_t* sources = edges.sources().data();
  for (int64_t i = first; i < last; ++i) {
    const int64_t begin = offsets[i], end = offsets[i + 1];
    if (begin == end) continue;
    SumLogits<kHeads>(sources, begin, end, heads, source_logits, target_logits + i * heads, positions, refined);
    if (alpha == nullptr) continue;
    const float* row = refined + begin * heads;
    if constexpr (kPeriodic<kHeads>) {
      SoftmaxPeriodic<kHeads>((end - begin) * kHeads, slope, row, alpha + begin * heads);
    } else {
      SoftmaxAny(end - begin, heads, slope, row, alpha + begin * heads);
    }
  }
}

// Targets [first, last); alpha may be null, then only refined is made.
void Forward(const EdgeIndex& edges, int64_t heads, float slope, const float* source_logits, const float* target_logits,
             const float* positions, float* refined, float* alpha, int64_t first, int64_t last) {
  const auto run = heads == 4   ? ForwardRows<4>
                   : heads == 8 ? ForwardRows<8>
                   : heads == 1 ? ForwardRows<1>
                                : ForwardRows<0>;
  run(edges, heads, slope, source_logits, target_logits, positions, refined, alpha, first, last);
}

template <int kHeads>
void SoftmaxBackwardPeriodic(int64_t count, float slope, const float* refined, const float* alpha, const float* d_alpha,
                             const float* d_refined, float* d_logit, float* d_target) {
  const Floats d;
  const auto add = [](float a, float b) { return a + b; };
  const int64_t whole = count - count % kLanes;
  const bool partial = whole < count;
  auto dot = hn::Zero(d);
  for (int64_t k = 0; k < whole; k += kLanes) dot = hn::MulAdd(hn::LoadU(d, alpha + k), hn::LoadU(d, d_alpha + k), dot);
  const auto part = [&](const float* from) { return LoadPart(from + whole, count - whole, 0); };
  if (partial) dot = hn::MulAdd(part(alpha), part(d_alpha), dot);
  dot = OverEdges<kHeads>(dot, add);
  const auto one = hn::Set(d, 1.0f), factor = hn::Set(d, slope);
  const auto gradient = [&](Vector r, Vector a, Vector g) {
    const auto leak = hn::IfThenElse(hn::Gt(r, hn::Zero(d)), one, factor);
    return hn::Mul(hn::Mul(a, hn::Sub(g, dot)), leak);
  };
  auto sum = hn::Zero(d);
  for (int64_t k = 0; k < whole; k += kLanes) {
    auto g = gradient(hn::LoadU(d, refined + k), hn::LoadU(d, alpha + k), hn::LoadU(d, d_alpha + k));
    if (d_refined != nullptr) g = hn::Add(g, hn::LoadU(d, d_refined + k));
    hn::StoreU(g, d, d_logit + k);
    sum = hn::Add(sum, g);
  }
  if (partial) {
    auto g = gradient(part(refined), part(alpha), part(d_alpha));
    if (d_refined != nullptr) g = hn::Add(g, part(d_refined));
    StorePart(g, d_logit + whole, count - whole);
    sum = hn::Add(sum, g);
  }
  StorePart(OverEdges<kHeads>(sum, add), d_target, kHeads);
}

void SoftmaxBackwardAny(int64_t edges, int64_t heads, float slope, const float* refined, const float* alpha,
                        const float* d_alpha, const float* d_refined, float* d_logit, float* d_target) {
  float dot[kMaxHeads], sum[kMaxHeads];
  std::fill_n(dot, heads, 0.0f);
  std::fill_n(sum, heads, 0.0f);
  for (int64_t e = 0; e < edges; ++e) {
    for (int64_t h = 0; h < heads; ++h) dot[h] += alpha[e * heads + h] * d_alpha[e * heads + h];
  }
  for (int64_t e = 0; e < edges; ++e) {
    for (int64_t h = 0; h < heads; ++h) {
      const int64_t k = e * heads + h;
      float g = alpha[k] * (d_alpha[k] - dot[h]) * (refined[k] > 0 ? 1.0f : slope);
      if (d_refined != nullptr) g += d_refined[k];
      d_logit[k] = g;
      sum[h] += g;
    }
  }
  std::copy_n(sum, heads, d_target);
}

template <int kHeads>
void BackwardRows(const EdgeIndex& edges, int64_t heads, float slope, const float* refined, const float* alpha,
                  const float* d_alpha, const float* d_refined, float* d_logit, float* d_target_logits, int64_t first,
                  int64_t last) {
  const int64_t* offsets = edges.offsets().data();
  for (int64_t i = first; i < last; ++i) {
    const int64_t at = offsets[i] * heads, count = offsets[i + 1] - offsets[i];
    const float* extra = d_refined == nullptr ? nullptr : d_refined + at;
    float* d_target = d_target_logits + i * heads;
    if constexpr (kPeriodic<kHeads>) {
      SoftmaxBackwardPeriodic<kHeads>(count * kHeads, slope, refined + at, alpha + at, d_alpha + at, extra,
                                      d_logit + at, d_target);
    } else {
      SoftmaxBackwardAny(count, heads, slope, refined + at, alpha + at, d_alpha + at, extra, d_logit + at, d_target);
    }
  }
}

// d_logit and d_target_logits of targets [first, last).
void Backward(const EdgeIndex& edges, int64_t heads, float slope, const float* refined, const float* alpha,
              const float* d_alpha, const float* d_refined, float* d_logit, float* d_target_logits, int64_t first,
              int64_t last) {
  const auto run = heads == 4   ? BackwardRows<4>
                   : heads == 8 ? BackwardRows<8>
                   : heads == 1 ? BackwardRows<1>
                                : BackwardRows<0>;
  run(edges, heads, slope, refined, alpha, d_alpha, d_refined, d_logit, d_target_logits, first, last);
}

// sums[j] = the sum of the rows of `values` named by index[offsets[j]] .. ; `index` null names the rows themselves.
template <int kHeads>
void SumRowsOf(const int64_t* HWY_RESTRICT offsets, const int32_t* HWY_RESTRICT index, int64_t any_heads,
               const float* HWY_RESTRICT values, float* HWY_RESTRICT sums, int64_t first, int64_t last) {
  const int64_t heads = Heads<kHeads>(any_heads);
  const auto row = [&](int64_t slot) { return values + (index == nullptr ? slot : int64_t{index[slot]}) * heads; };
  for (int64_t j = first; j < last; ++j) {
    const int64_t end = offsets[j + 1];
    int64_t slot = offsets[j];
    if constexpr (kHeads == 4 || kHeads == 8) {
      // Four sums: additions of one sum wait for each other.
      const hn::CappedTag<float, kHeads> d;
      constexpr int64_t kWidth = hn::MaxLanes(d);
      for (int64_t h = 0; h < kHeads; h += kWidth) {
        auto s0 = hn::Zero(d), s1 = s0, s2 = s0, s3 = s0;
        slot = offsets[j];
        for (; slot + 4 <= end; slot += 4) {
          s0 = hn::Add(s0, hn::LoadU(d, row(slot) + h));
          s1 = hn::Add(s1, hn::LoadU(d, row(slot + 1) + h));
          s2 = hn::Add(s2, hn::LoadU(d, row(slot + 2) + h));
          s3 = hn::Add(s3, hn::LoadU(d, row(slot + 3) + h));
        }
        for (; slot < end; ++slot) s0 = hn::Add(s0, hn::LoadU(d, row(slot) + h));
        hn::StoreU(hn::Add(hn::Add(s0, s1), hn::Add(s2, s3)), d, sums + j * kHeads + h);
      }
    } else {
      float sum[kMaxHeads];
      std::fill_n(sum, heads, 0.0f);
      for (; slot < end; ++slot) {
        for (int64_t h = 0; h < heads; ++h) sum[h] += row(slot)[h];
      }
      std::copy_n(sum, heads, sums + j * heads);
    }
  }
}

void SumRows(const int64_t* offsets, const int32_t* index, int64_t heads, const float* values, float* sums,
             int64_t first, int64_t last) {
  const auto run = heads == 4 ? SumRowsOf<4> : heads == 8 ? SumRowsOf<8> : SumRowsOf<0>;
  run(offsets, index, heads, values, sums, first, last);
}

}  // namespace
}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {
namespace {

HWY_EXPORT(Forward);
HWY_EXPORT(Backward);
HWY_EXPORT(SumRows);

// Calls body(first, last) for ranges of nodes with about the same number of edges each.
template <class Body>
void over_nodes(std::span<const int64_t> offsets, Threads threads, const Body& body) {
  const int64_t parts = std::min<int64_t>(static_cast<int64_t>(offsets.size()) - 1, 8 * std::max(threads.count, 1));
  for_parts(parts, threads.count,
            [&](int64_t part) { body(part_begin(offsets, part, parts), part_begin(offsets, part + 1, parts)); });
}

}  // namespace

void edge_logits_backward(const EdgeIndex& edges, int64_t heads, const float* d_refined, float* d_source_logits,
                          float* d_target_logits, Threads threads) {
  over_nodes(edges.offsets(), threads, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(SumRows)
    (edges.offsets().data(), nullptr, heads, d_refined, d_target_logits, first, last);
  });
  over_nodes(edges.out_offsets(), threads, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(SumRows)
    (edges.out_offsets().data(), edges.out_edges().data(), heads, d_refined, d_source_logits, first, last);
  });
}

void attention_forward(const EdgeIndex& edges, int64_t heads, float slope, const float* source_logits,
                       const float* target_logits, const float* positions, float* refined, float* alpha,
                       Threads threads) {
  over_nodes(edges.offsets(), threads, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(Forward)
    (edges, heads, slope, source_logits, target_logits, positions, refined, alpha, first, last);
  });
}

void attention_backward(const EdgeIndex& edges, int64_t heads, float slope, const float* refined, const float* alpha,
                        const float* d_alpha, const float* d_refined, float* d_logit, float* d_source_logits,
                        float* d_target_logits, Threads threads) {
  over_nodes(edges.offsets(), threads, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(Backward)
    (edges, heads, slope, refined, alpha, d_alpha, d_refined, d_logit, d_target_logits, first, last);
  });
  over_nodes(edges.out_offsets(), threads, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(SumRows)
    (edges.out_offsets().data(), edges.out_edges().data(), heads, d_logit, d_source_logits, first, last);
  });
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
