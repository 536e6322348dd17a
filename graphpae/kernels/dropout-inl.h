// keeps() of dropout.h for vectors of elements. Included once per Highway target.
#if defined(GRAPHPAE_KERNELS_DROPOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GRAPHPAE_KERNELS_DROPOUT_INL_H_
#undef GRAPHPAE_KERNELS_DROPOUT_INL_H_
#else
#define GRAPHPAE_KERNELS_DROPOUT_INL_H_
#endif

#include <hwy/highway.h>

#include "graphpae/kernels/dropout.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {
namespace {
namespace hn = hwy::HWY_NAMESPACE;

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
  explicit RowKeeper(const Dropout& dropout) : dropout_(dropout), threshold_(dropout.threshold()) {
    for (uint32_t lane = 0; lane < kMost; ++lane) steps_[lane] = lane * kDropoutStep;
  }

  void start_row(int64_t row) { row_hash_ = dropout_row_hash(dropout_, row); }

  template <class D>
  HWY_INLINE hn::Mask<D> kept(D d, int64_t j) const {
    const hn::RebindToUnsigned<D> du;
    const auto base = hn::Set(du, row_hash_ + static_cast<uint32_t>(j) * kDropoutStep);
    return hn::RebindMask(d, Kept(du, hn::Add(base, hn::LoadU(du, steps_)), threshold_));
  }

 private:
  static constexpr size_t kMost = hn::MaxLanes(hn::ScalableTag<float>());
  const Dropout dropout_;
  const uint32_t threshold_;
  uint32_t row_hash_ = 0;
  uint32_t steps_[kMost];
};

}  // namespace
}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif  // include guard
