// GraphView: the rows of an undirected graph in CSR form, owned by someone else.
#pragma once

#include <cstdint>
#include <span>

#include "graphpae/core/adjacency.h"

namespace graphpae {

struct GraphView {
  std::span<const int64_t> offsets;     // [N+1]
  std::span<const int32_t> neighbours;  // [offsets[N]] both directions, each row ascending, no repeats

  int64_t num_nodes() const { return static_cast<int64_t>(offsets.size()) - 1; }
  int64_t degree(int64_t node) const { return offsets[node + 1] - offsets[node]; }
  std::span<const int32_t> row(int64_t node) const { return neighbours.subspan(offsets[node], degree(node)); }
};

inline GraphView view_of(const Adjacency& adjacency) { return {adjacency.offsets(), adjacency.neighbours()}; }

}  // namespace graphpae
