// The eigenpairs of L = I - S of one connected component, and its solvers.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/threads.h"
#include "graphpae/positions/component_split.h"

namespace graphpae {

struct ComponentSolution {
  int64_t num_nodes = 0;
  std::vector<double> eigenvalues;   // [K] of L, ascending; the first is exactly 0 if the component has edges
  std::vector<double> residuals;     // [K] ||L u - lambda u||
  std::vector<double> eigenvectors;  // [N,K] row-major, orthonormal columns
  bool converged = true;             // every residual is within the tolerance
  bool complete = true;              // a search for missed eigenvectors found none

  int64_t count() const { return static_cast<int64_t>(eigenvalues.size()); }
};

// Called now and then with the number of converged pairs; returns false to stop the solver.
using ConvergenceCallback = std::function<bool(int64_t converged)>;

// Bytes that a solver needs beyond the graph.
int64_t dense_solver_memory(int64_t num_nodes, int64_t count);
int64_t block_solver_memory(int64_t num_nodes, int64_t count, double tolerance);
int64_t inverse_solver_memory(int64_t num_nodes, int64_t count);
int64_t slepc_solver_memory(int64_t num_nodes, int64_t num_directed_edges, int64_t count);  // this rank

// The dense solver: the `count` <= N smallest pairs of a small graph from its full matrix, in float64. The graph must
// be connected and have edges.
ComponentSolution solve_dense(const LaplacianGraph& graph, int64_t count, double tolerance, Threads threads);

// The block solver: the smallest eigenpairs of L = I - S of one large connected graph by Chebyshev-filtered block
// Lanczos with thick restarts, in float32 with a check of every pair in float64 (all in float64 for tight tolerances).
//
// Block methods find as many copies of a multiple eigenvalue as a block has columns, here 16. More copies appear when
// the search goes on from random directions, so it does, until such a search finds nothing below the largest wanted
// eigenvalue. Only then are the pairs complete.
struct BlockSolverOptions {
  int64_t count = 0;        // pairs wanted
  double tolerance = 1e-5;  // bound of every residual
  uint64_t seed = 0;
  int max_restarts = 200;  // then it returns what it has
};

// True if the graph is large enough for `count` pairs: the basis must be well smaller than the whole space.
bool block_solver_applies(int64_t num_nodes, int64_t count);

// Every node needs a neighbour, and the graph must be connected and satisfy block_solver_applies. Throws
// `interrupted` if `progress` returns false.
ComponentSolution solve_block(const LaplacianGraph& graph, const BlockSolverOptions& options, Threads threads,
                              const ConvergenceCallback& progress = {});

// The inverse solver: the smallest eigenpairs of L of one large connected graph that stays sparse when it is eliminated
// (sparse_factor.h), by block Lanczos with s (L + s I)^-1 in float64.
//
// Such graphs have many eigenvalues close to 0, which products with L hardly tell apart; the inverse spreads them. That
// no eigenvalue was missed is proved by counting the negative pivots of L - t I for a t just below the largest one
// found.
//
// True if the graph has few edges per node, and if it also stays sparse.
bool may_use_inverse_solver(int64_t num_nodes, int64_t num_directed_edges);
bool inverse_solver_applies(const LaplacianGraph& graph);

// As solve_block.
ComponentSolution solve_inverse(const LaplacianGraph& graph, const BlockSolverOptions& options, Threads threads,
                                const ConvergenceCallback& progress = {});

// The SLEPc solver: the smallest eigenpairs of L of one large connected component, by the ranks of an MPI program
// (slepc_session.h). Each holds a range of rows of L and of all vectors.
//
// Krylov-Schur from one vector finds copies of a multiple eigenvalue by chance only. So the search goes on from random
// directions orthogonal to all that was found, until it finds nothing below the largest wanted eigenvalue.
//
// All ranks call it with the same arguments, and get the same solution, the eigenvectors only on rank 0. The component
// must satisfy block_solver_applies. Throws `interrupted` if `progress` returns false on rank 0.
ComponentSolution solve_slepc(const LaplacianGraph& graph, const ComponentSplit& split, int64_t component,
                              const BlockSolverOptions& options, const ConvergenceCallback& progress = {});

// Gives all ranks the solution of rank 0 without its eigenvectors.
void share_values(ComponentSolution& solution);

}  // namespace graphpae
