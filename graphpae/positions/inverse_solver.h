// The inverse solver: the smallest eigenpairs of L of one large connected graph that stays sparse when it is eliminated
// (sparse_factor.h), by block Lanczos with s (L + s I)^-1 in float64.
//
// Such graphs have many eigenvalues close to 0, which products with L hardly tell apart; the inverse spreads them. That
// no eigenvalue was missed is proved by counting the negative pivots of L - t I for a t just below the largest one
// found.
#pragma once

#include <cstdint>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/threads.h"
#include "graphpae/positions/block_solver.h"
#include "graphpae/positions/component_solution.h"

namespace graphpae {

// True if the graph has few edges per node, and if it also stays sparse.
bool may_use_inverse_solver(int64_t num_nodes, int64_t num_directed_edges);
bool inverse_solver_applies(const GraphView& graph);

// Bytes needed beyond the graph.
int64_t inverse_solver_memory(int64_t num_nodes, int64_t count);

// As solve_block.
ComponentSolution solve_inverse(const GraphView& graph, const BlockSolverOptions& options, Threads threads,
                                const ConvergenceCallback& progress = {});

}  // namespace graphpae
