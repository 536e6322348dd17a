#include "bench/bench_graphs.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/core/rng.h"

namespace graphpae::bench {

// Endpoints are drawn with density ~ rank^(-1/3) inside a range of nodes: hubs of several hundred times the mean.
Adjacency generate(const CommunityGraph& options, Threads threads) {
  const Rng rng(options.seed, 42);
  const auto skewed = [](double u, int64_t size) {
    return std::min<int64_t>(size - 1, static_cast<int64_t>(static_cast<double>(size) * u * std::sqrt(u)));
  };
  // Small components at the end, each a ring with chords.
  std::vector<int64_t> sizes;
  int64_t small_nodes = 0;
  for (int64_t c = 0; c < options.small_components; ++c) {
    sizes.push_back(10 + static_cast<int64_t>(rng.below(c, 51)));
    small_nodes += sizes.back();
  }
  const int64_t large = options.nodes - small_nodes;
  EdgeBlocks blocks(64);
  parallel_tasks(threads, 64, [&](int64_t task) {
    const auto [first, last] = part_of(options.edges, task, 64);
    blocks[task].reserve(last - first);
    for (int64_t e = first; e < last; ++e) {
      const auto draw = [&](uint64_t i) { return rng.uniform((uint64_t{1} << 40) + 8 * static_cast<uint64_t>(e) + i); };
      int64_t a = skewed(draw(0), large), b = skewed(draw(1), large);
      // Communities are interleaved: node i belongs to i mod communities. Some are closer than others.
      const double closeness = rng.uniform((uint64_t{1} << 37) + static_cast<uint64_t>(a % options.communities));
      if (draw(2) < options.inside + options.spread * (closeness - 0.5)) {
        const int64_t size = large / options.communities;
        b = std::min(large - 1, skewed(draw(3), size) * options.communities + a % options.communities);
      }
      blocks[task].push_back({static_cast<int32_t>(a), static_cast<int32_t>(b)});
    }
  });
  Buffer<Edge> rest;
  for (int64_t i = 1; i < large; ++i) {  // a random tree keeps the large part connected
    rest.push_back({static_cast<int32_t>(i), static_cast<int32_t>(rng.below((uint64_t{1} << 39) + i, i))});
  }
  int64_t base = large;
  for (const int64_t size : sizes) {
    for (int64_t i = 0; i < size; ++i) {
      rest.push_back({static_cast<int32_t>(base + i), static_cast<int32_t>(base + (i + 1) % size)});
      for (uint64_t chord = 0; chord < 4; ++chord) {
        const uint64_t draw = (uint64_t{1} << 38) + 4 * static_cast<uint64_t>(base + i) + chord;
        rest.push_back({static_cast<int32_t>(base + i), static_cast<int32_t>(base + rng.below(draw, size))});
      }
    }
    base += size;
  }
  blocks.push_back(std::move(rest));
  return Adjacency::from_edges(std::move(blocks), options.nodes, {}, threads);
}

}  // namespace graphpae::bench
