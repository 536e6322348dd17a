#include "graphpae/core/rng.h"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <numeric>
#include <utility>

namespace graphpae {
namespace {

uint32_t low_half(uint64_t word) { return static_cast<uint32_t>(word); }
uint32_t high_half(uint64_t word) { return static_cast<uint32_t>(word >> 32); }

double to_unit(uint64_t bits) { return static_cast<double>(bits >> 11) * 0x1p-53; }

}  // namespace

std::array<uint32_t, 4> Rng::block(uint64_t index) const {
  constexpr uint64_t kMultiplier0 = 0xD2511F53, kMultiplier1 = 0xCD9E8D57;
  constexpr uint32_t kWeyl0 = 0x9E3779B9, kWeyl1 = 0xBB67AE85;
  std::array<uint32_t, 4> x = {low_half(index), high_half(index), low_half(stream_), high_half(stream_)};
  uint32_t key0 = low_half(seed_), key1 = high_half(seed_);
  for (int round = 0; round < 10; ++round) {
    const uint64_t p0 = kMultiplier0 * x[0], p1 = kMultiplier1 * x[2];
    x = {high_half(p1) ^ x[1] ^ key0, low_half(p1), high_half(p0) ^ x[3] ^ key1, low_half(p0)};
    key0 += kWeyl0;
    key1 += kWeyl1;
  }
  return x;
}

uint64_t Rng::bits(uint64_t index) const {
  const auto x = block(index);
  return uint64_t{x[1]} << 32 | x[0];
}

double Rng::uniform(uint64_t index) const { return to_unit(bits(index)); }

uint64_t Rng::below(uint64_t index, uint64_t bound) const {
  // The high word of a 64 x 64 bit product: the bias is below bound / 2^64.
  __extension__ using Wide = unsigned __int128;
  return static_cast<uint64_t>(Wide{bits(index)} * bound >> 64);
}

double Rng::normal(uint64_t index) const {
  // Box-Muller; 1 - u is in (0, 1], so the logarithm is finite.
  const auto x = block(index);
  const double u = to_unit(uint64_t{x[1]} << 32 | x[0]);
  const double v = to_unit(uint64_t{x[3]} << 32 | x[2]);
  return std::sqrt(-2.0 * std::log(1.0 - u)) * std::cos(2.0 * std::numbers::pi * v);
}

std::vector<int32_t> Rng::permutation(int32_t n) const {
  std::vector<int32_t> order(static_cast<size_t>(n));
  std::iota(order.begin(), order.end(), 0);
  for (size_t i = order.size(); i > 1; --i) std::swap(order[i - 1], order[below(i, i)]);
  return order;
}

}  // namespace graphpae
