// Vectors over the columns of a row, with the columns that are left one by one, and columns of a few rows put together,
// so that they stay in a cache. Included once per Highway target.
#if defined(GRAPHPAE_KERNELS_COLUMNS_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GRAPHPAE_KERNELS_COLUMNS_INL_H_
#undef GRAPHPAE_KERNELS_COLUMNS_INL_H_
#else
#define GRAPHPAE_KERNELS_COLUMNS_INL_H_
#endif

#include <hwy/highway.h>

#include <cstdint>

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

}  // namespace
}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
