// DirectedEdges: the edges of a graph from source to target, as they were given, with their weights.
//
// Repeats of an edge become one whose weight is their sum, in the order of the input, so that a multigraph counts.
#pragma once

#include <cstdint>
#include <span>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/buffer.h"

namespace graphpae {

class DirectedEdges {
 public:
  DirectedEdges() : offsets_(1, 0) {}  // of no node

  // weights in the blocks of `edges`, or none; self loops are left out unless kept. Throws a data error for a node
  // outside 0 .. num_nodes-1, weights that do not number the edges, and one that is not finite.
  DirectedEdges(const EdgeBlocks& edges, const EdgeWeights& weights, int64_t num_nodes, bool keep_self_loops);

  int64_t num_nodes() const { return static_cast<int64_t>(offsets_.size()) - 1; }
  int64_t num_edges() const { return static_cast<int64_t>(targets_.size()); }
  bool has_weights() const { return !weights_.empty(); }

  std::span<const int64_t> offsets() const { return offsets_; }  // [N+1]
  std::span<const int32_t> targets() const { return targets_; }  // [E] by source, each row ascending, no repeats
  std::span<const float> weights() const { return weights_; }    // [E] or empty

  std::span<const int32_t> row(int64_t source) const {
    return targets().subspan(offsets_[source], offsets_[source + 1] - offsets_[source]);
  }
  // The place of an edge among all, -1 if there is no such edge.
  int64_t find(int64_t source, int32_t target) const;

  // How many edges have their opposite.
  int64_t num_reciprocal() const;

 private:
  Buffer<int64_t> offsets_;
  Buffer<int32_t> targets_;
  Buffer<float> weights_;
};

// Weights for both directions of every edge of `adjacency`, which was made of the same edges. A pair that was given in
// one direction only keeps its weight. Of a pair given in both, an undirected edge has the mean (a symmetric matrix or
// a list with both directions means each edge once), a directed one the sum.
Buffer<float> undirected_weights(const Adjacency& adjacency, const DirectedEdges& edges, bool directed);

}  // namespace graphpae
