// Streams of random numbers of one run. Each use of the seed has its own, so that adding one leaves the others as they
// are.
#pragma once

#include <cstdint>

#include "graphpae/core/rng.h"
#include "graphpae/settings/settings.h"

namespace graphpae {

enum class Stream : uint64_t { corruption = 1, dropout = 2, order = 3, head = 4, sampling = 5 };

// The generator of step `index`, or epoch `index`, of a run.
inline Rng stream_of(const Settings& settings, Stream stream, int64_t index) {
  const uint64_t seed = Rng(static_cast<uint64_t>(settings.seed), static_cast<uint64_t>(stream)).bits(0);
  return Rng(seed, static_cast<uint64_t>(index));
}

}  // namespace graphpae
