#include "graphpae/positions/laplacian_positions.h"

#include <algorithm>

#include "graphpae/positions/block_solver.h"
#include "graphpae/positions/dense_solver.h"
#include "graphpae/positions/inverse_solver.h"
#include "graphpae/positions/slepc_solver.h"
#include "graphpae/positions/solve_graph.h"

namespace graphpae {

double Positions::max_residual() const {
  return residuals.empty() ? 0.0 : *std::max_element(residuals.begin(), residuals.end());
}

Positions laplacian_positions(const Adjacency& graph, const PositionOptions& options, Threads threads,
                              const PositionCallback& progress) {
  check_options(options);
  return solve_graph(view_of(graph), options, threads, progress);
}

int64_t position_memory(int64_t num_nodes, int64_t num_directed_edges, const PositionOptions& options) {
  const int64_t count = std::min(num_nodes, options.k + 1);
  const int64_t split = 16 * num_nodes + (num_nodes > 0 ? 4 * num_directed_edges + 8 * num_nodes : 0);
  const bool block = solver_for(num_nodes, count, options.solver) == PositionSolver::block;
  int64_t solver =
      block ? block_solver_memory(num_nodes, count, options.tolerance) : dense_solver_memory(num_nodes, count);
  if (block && options.solver == PositionSolver::slepc) {
    solver = slepc_solver_memory(num_nodes, num_directed_edges, count);
  } else if (block && may_use_inverse_solver(num_nodes, num_directed_edges)) {
    solver = std::max(solver, inverse_solver_memory(num_nodes, count));
  }
  const int64_t vectors = holds_vectors(options) ? 8 * num_nodes * (count + options.k) : 0;
  return split + solver + vectors;
}

}  // namespace graphpae
