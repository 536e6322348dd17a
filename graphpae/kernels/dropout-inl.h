// keeps() of dropout.h for a vector of elements. Included once per Highway target.
#if defined(GRAPHPAE_KERNELS_DROPOUT_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef GRAPHPAE_KERNELS_DROPOUT_INL_H_
#undef GRAPHPAE_KERNELS_DROPOUT_INL_H_
#else
#define GRAPHPAE_KERNELS_DROPOUT_INL_H_
#endif

#include <hwy/highway.h>

#include "graphpae/kernels/dropout.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels {
namespace HWY_NAMESPACE {
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

}  // namespace
}  // namespace HWY_NAMESPACE
}  // namespace graphpae::kernels
HWY_AFTER_NAMESPACE();

#endif  // include guard
