// ComponentSplit: the nodes of a graph grouped by connected component, largest component first.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphpae/core/adjacency.h"
#include "graphpae/positions/laplacian_graph.h"

namespace graphpae {

// The part of a graph on one component, with nodes renumbered 0, 1, ... in their order.
struct Subgraph {
  std::vector<int64_t> offsets;     // [n+1]
  std::vector<int32_t> neighbours;  // [offsets[n]]
  std::vector<float> weights;       // [offsets[n]] or empty
  std::vector<double> strengths;    // [n] with weights
  LaplacianGraph view() const { return {{offsets, neighbours}, weights, strengths}; }
};

// Components are ordered by falling number of nodes, then by their smallest node. Isolated nodes, which have no
// neighbour at all, not even themselves, come last whatever their order.
class ComponentSplit {
 public:
  explicit ComponentSplit(const LaplacianGraph& graph);

  int64_t count() const { return static_cast<int64_t>(starts_.size()) - 1; }
  int64_t isolated() const { return isolated_; }
  int64_t with_edges() const { return count() - isolated_; }
  // Nodes of component `index`, ascending.
  std::span<const int32_t> nodes(int64_t index) const {
    return std::span(nodes_).subspan(starts_[index], starts_[index + 1] - starts_[index]);
  }

  // The place of a node in its component.
  int32_t place(int32_t node) const { return local_[node]; }

  // `graph` must be the one of the constructor.
  Subgraph subgraph(const LaplacianGraph& graph, int64_t index) const;

 private:
  std::vector<int64_t> starts_;  // [count+1]
  std::vector<int32_t> nodes_;   // [N]
  std::vector<int32_t> local_;   // [N] a node's place in its component
  int64_t isolated_ = 0;
};

}  // namespace graphpae
