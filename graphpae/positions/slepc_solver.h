// The SLEPc solver: the smallest eigenpairs of L of one large connected component, by the ranks of an MPI program
// (slepc_session.h). Each holds a range of rows of L and of all vectors.
//
// Krylov-Schur from one vector finds copies of a multiple eigenvalue by chance only. So the search goes on from random
// directions orthogonal to all that was found, until it finds nothing below the largest wanted eigenvalue.
#pragma once

#include <cstdint>

#include "graphpae/core/adjacency.h"
#include "graphpae/positions/block_solver.h"
#include "graphpae/positions/component_solution.h"
#include "graphpae/positions/component_split.h"

namespace graphpae {

// Bytes this rank needs beyond the graph.
int64_t slepc_solver_memory(int64_t num_nodes, int64_t num_directed_edges, int64_t count);

// All ranks call it with the same arguments, and get the same solution, the eigenvectors only on rank 0. The component
// must satisfy block_solver_applies. Throws `interrupted` if `progress` returns false on rank 0.
ComponentSolution solve_slepc(const GraphView& graph, const ComponentSplit& split, int64_t component,
                              const BlockSolverOptions& options, const ConvergenceCallback& progress = {});

// Gives all ranks the solution of rank 0 without its eigenvectors.
void share_values(ComponentSolution& solution);

}  // namespace graphpae
