// Dropout without stored masks: whether an element is kept is a pure function of a key, its row and its column.
//
// A row is hashed once; an element costs one more 32-bit hash (two multiplications), which vectorises. The same
// function is used by every kernel, forward and backward, and by the plain twins.
#pragma once

#include <cstdint>

namespace graphpae::kernels {

struct Dropout {
  float probability = 0;  // of dropping an element, in [0, 1)
  uint64_t key = 0;       // another key gives independent decisions

  bool active() const { return probability > 0; }
  float scale() const { return 1 / (1 - probability); }  // of elements that are kept
  // An element is kept if its hash is at least this.
  uint32_t threshold() const { return static_cast<uint32_t>(static_cast<double>(probability) * 4294967296.0); }
};

inline uint32_t mix_bits(uint32_t x) {
  x ^= x >> 16;
  x *= 0x21f0aaadu;
  x ^= x >> 15;
  x *= 0xd35a2d97u;
  x ^= x >> 15;
  return x;
}

inline uint32_t dropout_row_hash(const Dropout& dropout, int64_t row) {
  const uint64_t r = static_cast<uint64_t>(row);
  return mix_bits(mix_bits(static_cast<uint32_t>(dropout.key) + static_cast<uint32_t>(r)) ^
                  static_cast<uint32_t>(dropout.key >> 32) ^ static_cast<uint32_t>(r >> 32));
}

inline constexpr uint32_t kDropoutStep = 0x9e3779b9u;  // between the hashes of neighbouring columns

inline bool keeps(const Dropout& dropout, uint32_t row_hash, uint32_t column) {
  return mix_bits(row_hash + column * kDropoutStep) >= dropout.threshold();
}

}  // namespace graphpae::kernels
