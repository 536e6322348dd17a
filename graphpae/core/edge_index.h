// EdgeIndex: the directed edges j -> i that messages travel along, ordered by target, with what the backward pass
// needs: the same edges ordered by source, and the undirected pair each belongs to.
//
// Edge e is a position in the order by target: edges into node 0 first, then into node 1, and so on.
#pragma once

#include <cstdint>
#include <span>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/buffer.h"

namespace graphpae {

class EdgeIndex {
 public:
  EdgeIndex() = default;

  // Both directions of every edge of the graph, its own self loops left out; one self loop per node if
  // `with_self_loops`. The sources of a target ascend. Throws a data error beyond 2^31 edges.
  EdgeIndex(const Adjacency& adjacency, bool with_self_loops);

  // Any list of directed edges. Within a target, edges keep the order of the list. Throws a data error for nodes out of
  // range, and if a pair of different nodes is not there exactly once in each direction.
  static EdgeIndex from_list(std::span<const int32_t> sources, std::span<const int32_t> targets, int64_t num_nodes);

  // Edges drawn at random, by target: those into node i < T are sources[offsets[i]] .. sources[offsets[i+1]], offsets
  // [T+1]; no edges lead into other nodes. A pair may have one direction only, and repeats are kept.
  static EdgeIndex from_sample(std::span<const int64_t> offsets, std::span<const int32_t> sources, int64_t num_nodes);

  int64_t num_nodes() const { return static_cast<int64_t>(offsets_.size()) - 1; }
  int64_t num_edges() const { return static_cast<int64_t>(sources_.size()); }  // E, directed, self loops included

  std::span<const int64_t> offsets() const { return offsets_; }  // [N+1] edges into node i: offsets[i] .. offsets[i+1]
  std::span<const int32_t> sources() const { return sources_; }  // [E]
  std::span<const int32_t> targets() const { return targets_; }  // [E]

  // By source: slots out_offsets[j] .. out_offsets[j+1] are the edges out of node j, targets ascending.
  std::span<const int64_t> out_offsets() const { return out_offsets_; }  // [N+1]
  std::span<const int32_t> out_edges() const { return out_edges_; }      // [E] which edge a slot is

  // Undirected pairs of different nodes, each once; a self loop belongs to none. A pair with one direction only has it
  // as both edges.
  int64_t num_pairs() const { return static_cast<int64_t>(pair_forward_.size()); }
  std::span<const int32_t> pair_of_edge() const { return pair_of_edge_; }    // [E], num_pairs() for a self loop
  std::span<const int32_t> pair_forward() const { return pair_forward_; }    // [pairs] the edge whose source is smaller
  std::span<const int32_t> pair_backward() const { return pair_backward_; }  // [pairs] the other one

 private:
  void index_edges(bool both_directions);
  void index_pairs(bool both_directions);
  void check_pairs(int64_t i, const Buffer<int32_t>& in, const Buffer<int32_t>& out) const;

  Buffer<int64_t> offsets_ = Buffer<int64_t>(1, 0);
  Buffer<int32_t> sources_, targets_;
  Buffer<int64_t> out_offsets_ = Buffer<int64_t>(1, 0);
  Buffer<int32_t> out_edges_;
  Buffer<int32_t> pair_of_edge_, pair_forward_, pair_backward_;
};

}  // namespace graphpae
