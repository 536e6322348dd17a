// Positions of many small graphs at once: molecules.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/threads.h"
#include "graphpae/positions/laplacian_positions.h"

namespace graphpae {

// G graphs in flat arrays, N nodes in all. Node numbers of edges are local to their graph; either or both directions of
// an edge may be given, repeats and self loops are ignored.
struct GraphBatch {
  std::span<const int64_t> node_offsets;  // [G+1]
  std::span<const int64_t> edge_offsets;  // [G+1]
  std::span<const Edge> edges;            // [edge_offsets[G]]

  int64_t num_graphs() const { return static_cast<int64_t>(node_offsets.size()) - 1; }
};

struct BatchPositions {
  int64_t k = 0;
  std::vector<double> eigenvalues;   // [G,K]
  std::vector<double> eigenvectors;  // [N,K] row-major, rows as in node_offsets
  std::vector<double> residuals;     // [G,K]
  std::vector<int32_t> computed;     // [G] columns that are eigenvectors; the rest is zero
  int64_t padded_graphs = 0;         // with fewer than K eigenvectors
  int64_t cut_graphs = 0;            // where K cuts an eigenspace
  int64_t unconverged_graphs = 0;
};

// The same as laplacian_positions for every graph, in parallel over graphs. `progress` gets the number of graphs done
// and returns false to stop, which throws `interrupted`. options.extend must be off: all graphs have K columns. Throws
// a data error that names the graph for a node number outside it.
BatchPositions position_batch(const GraphBatch& batch, const PositionOptions& options, Threads threads = {},
                              const std::function<bool(int64_t graphs)>& progress = {});

}  // namespace graphpae
