// Vectors of the numbers that edges have for each of a few heads. Included once per Highway target.
#if defined(GRAPHPAE_KERNELS_HEAD_LANES_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GRAPHPAE_KERNELS_HEAD_LANES_INL_H_
#undef GRAPHPAE_KERNELS_HEAD_LANES_INL_H_
#else
#define GRAPHPAE_KERNELS_HEAD_LANES_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "graphpae/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {
namespace {

inline constexpr int64_t kMaxHeads = 64;

// kHeads is a constant for the common numbers of heads and 0 for any other.
template <int kHeads>
HWY_INLINE int64_t Heads(int64_t heads) {
  return kHeads > 0 ? kHeads : heads;
}

// If the heads of an edge fill a vector a whole number of times, lane l of every vector of a target's edges belongs to
// head l % heads: the edges of a target are one array and there is no inner loop over heads.
template <int kHeads>
inline constexpr bool kPeriodic = kHeads > 0 && kLanes % (kHeads > 0 ? kHeads : 1) == 0;

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

}  // namespace
}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
