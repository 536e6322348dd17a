// Relative distances P_ij = ||U_i - U_j||, Eq. (3), for the edges of a graph, clean and corrupted.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphpae/core/threads.h"

namespace graphpae {

// Rows U_i of positions in float64.
struct PositionTable {
  std::span<const double> values;  // [N,K] row-major
  int64_t k = 0;                   // K

  int64_t num_nodes() const { return k == 0 ? 0 : static_cast<int64_t>(values.size()) / k; }
};

// Directed edges, any list of pairs: edge e joins sources[e] and targets[e].
struct EdgeEnds {
  std::span<const int32_t> sources;  // [E]
  std::span<const int32_t> targets;  // [E]

  int64_t size() const { return static_cast<int64_t>(sources.size()); }
};

// Corrupted positions: U~_i = U_i + noise row m for node i = nodes[m], U~_i = U_i for all others.
struct PositionNoise {
  std::span<const int32_t> nodes;  // [M] distinct
  std::span<const double> values;  // [M,K]
};

// [E] float32, from float64 differences. A self loop has distance 0. Throws a usage error if sizes do not fit.
std::vector<float> relative_distances(const PositionTable& positions, const EdgeEnds& edges, Threads threads = {});

// The distances between corrupted positions. `clean` are the distances without noise, [E]; only edges that touch a node
// with noise are computed again.
std::vector<float> corrupted_distances(const PositionTable& positions, const EdgeEnds& edges,
                                       const PositionNoise& noise, std::span<const float> clean, Threads threads = {});

}  // namespace graphpae
