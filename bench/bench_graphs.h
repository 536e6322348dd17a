// Generated graphs for the benchmarks, with communities of different strength, hubs and small components.
#pragma once

#include <cstdint>
#include <string>

#include "graphpae/core/adjacency.h"

namespace graphpae::bench {

struct CommunityGraph {
  int64_t nodes = 0;
  int64_t edges = 0;  // undirected, before repeats are dropped
  int64_t communities = 100;
  double inside = 0.7;           // mean share of edges within communities
  double spread = 0.5;           // its range from the loosest community to the closest
  int64_t small_components = 0;  // of 10 to 60 nodes each, besides the large one
  uint64_t seed = 1;
};
Adjacency generate(const CommunityGraph& options, Threads threads);

}  // namespace graphpae::bench
