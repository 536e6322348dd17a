// Positions of a graph given as rows of neighbours: what laplacian_positions and position_batch share.
#pragma once

#include "graphpae/core/adjacency.h"
#include "graphpae/core/threads.h"
#include "graphpae/positions/laplacian_graph.h"
#include "graphpae/positions/laplacian_positions.h"

namespace graphpae {

// Throws usage errors.
void check_options(const PositionOptions& options);

Positions solve_graph(const LaplacianGraph& graph, const PositionOptions& options, Threads threads,
                      const PositionCallback& progress);

}  // namespace graphpae
