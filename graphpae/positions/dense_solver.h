// The dense solver: the smallest eigenpairs of L of a small connected graph from its full matrix, in float64.
#pragma once

#include <cstdint>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/threads.h"
#include "graphpae/positions/component_solution.h"

namespace graphpae {

// Bytes needed for a graph of `num_nodes` nodes.
int64_t dense_solver_memory(int64_t num_nodes, int64_t count);

// The `count` <= N smallest pairs. The graph must be connected; a single node without a loop has eigenvalue 1.
ComponentSolution solve_dense(const GraphView& graph, int64_t count, double tolerance, Threads threads);

}  // namespace graphpae
