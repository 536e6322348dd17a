// Adjacency: the undirected structure of a graph as one compressed sparse row matrix.
//
// Both directions of every edge are stored, each row ascending and without repeats, so the matrix is
// its own transpose. Node ids are 32-bit (up to 2^31 nodes), offsets 64-bit (up to 2^40 edges). Edges may have weights,
// the same in both directions (core/directed_edges.h says how they come about).
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphpae/core/buffer.h"
#include "graphpae/core/threads.h"

namespace graphpae {

struct Edge {
  int32_t src;
  int32_t dst;
  bool operator==(const Edge&) const = default;
};

// Edges as a reader found them, in blocks so that growing never copies.
using EdgeBlocks = std::vector<Buffer<Edge>>;
int64_t count_edges(const EdgeBlocks& blocks);

// A number for every edge, in the same blocks; no blocks: the edges have no weights.
using EdgeWeights = std::vector<Buffer<float>>;

enum class SelfLoops { drop, keep, refuse };
enum class Repeats { merge, refuse };  // the same pair of nodes more than once, in either direction

struct EdgeOptions {
  SelfLoops self_loops = SelfLoops::drop;
  Repeats repeats = Repeats::merge;
};

inline constexpr int64_t kMaxNodes = int64_t{1} << 31;

class Adjacency {
 public:
  Adjacency() : offsets_(1, 0) {}

  // Symmetrises `blocks`, which may hold either or both directions of an edge, and releases them on
  // the way: the peak is about 2.5 times the result. Throws a data error for a node outside 0 .. num_nodes-1 and for
  // what `options` refuse.
  static Adjacency from_edges(EdgeBlocks blocks, int64_t num_nodes, const EdgeOptions& options = {},
                              Threads threads = {});
  static Adjacency from_edges(std::span<const Edge> edges, int64_t num_nodes, const EdgeOptions& options = {},
                              Threads threads = {});

  int64_t num_nodes() const { return static_cast<int64_t>(offsets_.size()) - 1; }
  int64_t num_edges() const { return num_edges_; }            // undirected, without self loops
  int64_t num_self_loops() const { return num_self_loops_; }  // distinct ones in the input, kept or not

  std::span<const int64_t> offsets() const { return offsets_; }        // [N+1]
  std::span<const int32_t> neighbours() const { return neighbours_; }  // [offsets[N]]

  int64_t degree(int64_t node) const { return offsets_[node + 1] - offsets_[node]; }
  std::span<const int32_t> row(int64_t node) const {
    return {neighbours_.data() + offsets_[node], static_cast<size_t>(degree(node))};
  }

  bool has_weights() const { return !weights_.empty(); }
  std::span<const float> weights() const { return weights_; }  // [offsets[N]] beside neighbours(), or empty
  std::span<const float> row_weights(int64_t node) const {     // beside row(node); only with weights
    return {weights_.data() + offsets_[node], static_cast<size_t>(degree(node))};
  }
  // One per entry of neighbours(), equal for both directions of an edge; none takes them away. Throws a data error for
  // another number of them or one that is not finite.
  void set_weights(Buffer<float> weights);

 private:
  Buffer<int64_t> offsets_;
  Buffer<int32_t> neighbours_;
  Buffer<float> weights_;
  int64_t num_edges_ = 0;
  int64_t num_self_loops_ = 0;
};

// The rows of an undirected graph, owned by someone else.
struct GraphView {
  std::span<const int64_t> offsets;     // [N+1]
  std::span<const int32_t> neighbours;  // [offsets[N]] both directions, each row ascending, no repeats

  int64_t num_nodes() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t degree(int64_t node) const { return offsets[node + 1] - offsets[node]; }
  std::span<const int32_t> row(int64_t node) const { return neighbours.subspan(offsets[node], degree(node)); }
};
inline GraphView view_of(const Adjacency& adjacency) { return {adjacency.offsets(), adjacency.neighbours()}; }

// The connected component of every node, numbered by first appearance, and their sizes.
struct Components {
  std::vector<int32_t> of_node;  // [N]
  std::vector<int64_t> sizes;    // [number of components]
};
Components connected_components(const GraphView& graph);

}  // namespace graphpae
