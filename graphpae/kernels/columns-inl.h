// Vectors over the columns of a row, with the columns that are left one by one; dropout of them; and columns of a few
// rows put together, so that they stay in a cache. Included once per Highway target.
#if defined(GRAPHPAE_KERNELS_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GRAPHPAE_KERNELS_COLUMNS_INL_H_
#undef GRAPHPAE_KERNELS_COLUMNS_INL_H_
#else
#define GRAPHPAE_KERNELS_COLUMNS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

#include "graphpae/kernels/dropout.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

using FullTag = hn::ScalableTag<float>;
using FourTag = hn::CappedTag<float, 4>;
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

// The same for bodies that sum nothing over columns: what is left goes in fours first.
template <class Body>
HWY_INLINE void for_elements(int64_t begin, int64_t end, const Body& body) {
  const FullTag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), few = static_cast<int64_t>(hn::Lanes(FourTag()));
  int64_t j = begin;
  for (; j + lanes <= end; j += lanes) body(d, j);
  for (; j + few <= end; j += few) body(FourTag(), j);
  for (; j < end; ++j) body(OneTag(), j);
}

// packed [R,kBlock] = the first `count` columns of rows that are `stride` apart, filled up with zeros. kBlock is a
// multiple of the lanes of Tag, packed is aligned.
template <int64_t kBlock, class Tag>
HWY_INLINE void PackRows(Tag d, const float* HWY_RESTRICT from, int64_t rows, int64_t stride, int64_t count,
                         float* HWY_RESTRICT packed) {
  for (int64_t r = 0; r < rows; ++r, from += stride, packed += kBlock) {
    if (count == kBlock) {
      for (int64_t j = 0; j < kBlock; j += hn::MaxLanes(d)) hn::Store(hn::LoadU(d, from + j), d, packed + j);
    } else {
      for (int64_t j = 0; j < kBlock; ++j) packed[j] = j < count ? from[j] : 0.0f;
    }
  }
}

// to[c * to_stride + r] = from[r * stride + c] for r < rows, c < columns.
HWY_INLINE void Transpose(const float* HWY_RESTRICT from, int64_t stride, int64_t rows, int64_t columns,
                          float* HWY_RESTRICT to, int64_t to_stride) {
  int64_t r = 0;
#if HWY_TARGET != HWY_SCALAR
  const FourTag d;
  const int64_t whole = columns / 4 * 4;
  for (; r + 4 <= rows; r += 4) {  // squares of 4 x 4
    const float* row = from + r * stride;
    for (int64_t c = 0; c < whole; c += 4) {
      const auto r0 = hn::LoadU(d, row + c), r1 = hn::LoadU(d, row + stride + c);
      const auto r2 = hn::LoadU(d, row + 2 * stride + c), r3 = hn::LoadU(d, row + 3 * stride + c);
      const auto a = hn::InterleaveLower(d, r0, r2), b = hn::InterleaveLower(d, r1, r3);
      const auto e = hn::InterleaveUpper(d, r0, r2), f = hn::InterleaveUpper(d, r1, r3);
      float* out = to + c * to_stride + r;
      hn::StoreU(hn::InterleaveLower(d, a, b), d, out);
      hn::StoreU(hn::InterleaveUpper(d, a, b), d, out + to_stride);
      hn::StoreU(hn::InterleaveLower(d, e, f), d, out + 2 * to_stride);
      hn::StoreU(hn::InterleaveUpper(d, e, f), d, out + 3 * to_stride);
    }
    for (int64_t i = 0; i < 4; ++i) {
      for (int64_t c = whole; c < columns; ++c) to[c * to_stride + r + i] = row[i * stride + c];
    }
  }
#endif
  for (; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) to[c * to_stride + r] = from[r * stride + c];
  }
}

// Which elements are kept, given row hash + column * kDropoutStep of each and the threshold.
template <class DU>
HWY_INLINE hn::Mask<DU> Kept(DU du, hn::Vec<DU> sums, uint32_t threshold) {
  auto hash = hn::Xor(sums, hn::ShiftRight<16>(sums));
  hash = hn::Mul(hash, hn::Set(du, 0x21f0aaadu));
  hash = hn::Xor(hash, hn::ShiftRight<15>(hash));
  hash = hn::Mul(hash, hn::Set(du, 0xd35a2d97u));
  hash = hn::Xor(hash, hn::ShiftRight<15>(hash));
  // There is no unsigned comparison: hash >= threshold if the larger of both is the hash.
  return hn::Eq(hn::Max(hash, hn::Set(du, threshold)), hash);
}

// keeps() for the columns j, j+1, ... of a row. The products of the lane numbers are made once.
class RowKeeper {
 public:
  explicit RowKeeper(const Dropout& dropout)
      : dropout_(dropout), threshold_(dropout.threshold()), scale_(dropout.scale()), active_(dropout.active()) {
    for (uint32_t lane = 0; lane < kMost; ++lane) steps_[lane] = lane * kDropoutStep;
  }

  void start_row(int64_t row) { start_hash(dropout_row_hash(dropout_, row)); }
  void start_hash(uint32_t row_hash) { row_hash_ = row_hash; }

  template <class D>
  HWY_INLINE hn::Mask<D> kept(D d, int64_t j) const {
    const hn::RebindToUnsigned<D> du;
    const auto base = hn::Set(du, row_hash_ + static_cast<uint32_t>(j) * kDropoutStep);
    return hn::RebindMask(d, Kept(du, hn::Add(base, hn::LoadU(du, steps_)), threshold_));
  }

  // dropout(v)
  template <class D, class V = hn::Vec<D>>
  HWY_INLINE V drop(D d, int64_t j, V v) const {
    return active_ ? hn::IfThenElseZero(kept(d, j), hn::Mul(v, hn::Set(d, scale_))) : v;
  }

 private:
  static constexpr size_t kMost = hn::MaxLanes(hn::ScalableTag<float>());
  const Dropout dropout_;
  const uint32_t threshold_;
  const float scale_;
  const bool active_;
  uint32_t row_hash_ = 0;
  uint32_t steps_[kMost];
};

// Calls body(keeper, tag, place, j) for vectors of elements of rows [first, last), which are `width` wide: those from
// `place` in the matrix and `j` in the row on. The keeper knows the dropout of the row. As for_elements.
template <class Body>
HWY_INLINE void for_kept_elements(const Dropout& dropout, int64_t first, int64_t last, int64_t width,
                                  const Body& body) {
  RowKeeper keeper(dropout);
  for (int64_t i = first; i < last; ++i) {
    keeper.start_row(i);
    for_elements(0, width, [&](auto d, int64_t j) HWY_ATTR { body(keeper, d, i * width + j, j); });
  }
}

}  // namespace
}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
