// The block solver: the smallest eigenpairs of L = I - S of one large connected graph by Chebyshev-filtered block
// Lanczos with thick restarts, in float32 with a check of every pair in float64 (all in float64 for tight tolerances).
//
// Block methods find as many copies of a multiple eigenvalue as a block has columns, here 16. More copies appear when
// the search goes on from random directions, so it does, until such a search finds nothing below the largest wanted
// eigenvalue. Only then are the pairs complete.
#pragma once

#include <cstdint>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/threads.h"
#include "graphpae/positions/component_solution.h"

namespace graphpae {

struct BlockSolverOptions {
  int64_t count = 0;        // pairs wanted
  double tolerance = 1e-5;  // bound of every residual
  uint64_t seed = 0;
  int max_restarts = 200;  // then it returns what it has
};

// True if the graph is large enough for `count` pairs: the basis must be well smaller than the whole space.
bool block_solver_applies(int64_t num_nodes, int64_t count);

// Bytes needed beyond the graph.
int64_t block_solver_memory(int64_t num_nodes, int64_t count, double tolerance);

// Every node needs a neighbour, and the graph must be connected and satisfy block_solver_applies. Throws
// `interrupted` if `progress` returns false.
ComponentSolution solve_block(const GraphView& graph, const BlockSolverOptions& options, Threads threads,
                              const ConvergenceCallback& progress = {});

}  // namespace graphpae
