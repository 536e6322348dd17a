// Rng: counter-based random numbers (Philox 4x32-10, Salmon et al. 2011).
//
// A number is a pure function of (seed, stream, index): threads may draw in any order and get the same
// values, and a checkpoint needs to store no generator state.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace graphpae {

class Rng {
 public:
  // `stream` separates uses of one seed (masks, noises, dropout, ...).
  explicit Rng(uint64_t seed, uint64_t stream = 0) : seed_(seed), stream_(stream) {}

  // 128 random bits for `index`.
  std::array<uint32_t, 4> block(uint64_t index) const;

  uint64_t bits(uint64_t index) const;
  double uniform(uint64_t index) const;                  // [0, 1), 53 random bits
  uint64_t below(uint64_t index, uint64_t bound) const;  // {0, ..., bound - 1}, bound >= 1
  double normal(uint64_t index) const;                   // mean 0, variance 1

  // A random order of 0 .. n-1.
  std::vector<int32_t> permutation(int32_t n) const;

  // An independent generator with the same seed.
  Rng stream(uint64_t stream) const { return Rng(seed_, stream); }

 private:
  uint64_t seed_;
  uint64_t stream_;
};

}  // namespace graphpae
