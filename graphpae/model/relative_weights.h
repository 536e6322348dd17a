// Weights of edges as attention sees them.
#pragma once

#include <cstdint>
#include <vector>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/edge_index.h"

namespace graphpae {

// The weight of an edge divided by the mean over all edges of its target, so that units do not matter and a self loop,
// which has no weight of its own, counts as an edge of mean weight: 1.
class RelativeWeights {
 public:
  // Of an adjacency with weights, which outlives this. Throws a data error for a weight that is not above 0.
  explicit RelativeWeights(const Adjacency& adjacency);

  float operator()(int32_t source, int32_t target) const;

  // [E] of all edges of an index whose node i is nodes[i] of the graph; no nodes: the same.
  std::vector<float> of_edges(const EdgeIndex& edges, const std::vector<int32_t>& nodes = {}) const;

 private:
  const Adjacency& adjacency_;
  std::vector<double> means_;  // [N]
};

}  // namespace graphpae
