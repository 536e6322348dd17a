// START HERE. Positions: the K smallest eigenpairs of the normalised Laplacian L = I - D^-1/2 A D^-1/2 of a graph. Of
// a graph with weights, A holds them and D their sums.
//
// An isolated node has diagonal entry 1 and so eigenvalue 1. The graph is split into connected components; each is
// solved on its own (component_solvers.h), small ones densely, large ones by block Lanczos, with the Laplacian or,
// where the graph allows it, with its inverse, or by several processes; the pairs are merged (solve_graph.h). Rules
// that make the result unique where mathematics leaves a choice:
//   * eigenvalues ascend; equal ones (to 1e-12) follow their components, larger components first, then the one with
//     the smaller node. With more components than K, the K eigenvectors of eigenvalue 0 are thus D^1/2 of the K
//     largest;
//   * every vector is zero outside one component;
//   * the first entry whose magnitude is within 0.1 % of the largest one is positive;
//   * the same options and graph give the same bits with any number of threads (not of processes).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/threads.h"

namespace graphpae {

// With slepc, all processes of an MPI program solve together and make the same calls (slepc_session.h); only rank 0
// gets the eigenvectors.
enum class PositionSolver { automatic, dense, block, inverse, slepc };

// What every eigenvector u with eigenvalue lambda is divided by. The wavelength forms follow common practice for
// Laplacian encodings: entries in units of the wavelength of a sine with the same curvature.
enum class PositionNormalisation {
  none,             // left as it is: length 1
  l1,               // ||u||_1
  l2,               // ||u||_2
  max_abs,          // max |u|
  wavelength,       // max |u| sqrt(lambda) 2 / pi
  wavelength_asin,  // asin(u / max |u|) / sqrt(lambda)
  wavelength_soft,  // (softmax(|u|) . |u|) sqrt(lambda)
};

struct PositionOptions {
  int64_t k = 50;
  double tolerance = 1e-5;  // bound of every residual ||L u - lambda u||
  PositionSolver solver = PositionSolver::automatic;
  bool skip_zero = false;  // leave out eigenvalues below 1e-6
  bool absolute = false;   // absolute values of the entries
  PositionNormalisation normalisation = PositionNormalisation::none;
  bool extend = false;       // if K cuts a multiple eigenvalue, return all of its vectors, up to extend_limit in all
  int64_t extend_limit = 0;  // 0: 4 k + 64
  bool weights = true;       // of a graph that has them; otherwise every edge counts the same
  uint64_t seed = 0;         // of the block solver's start vectors
};

enum class PositionStatus {
  converged,      // every residual is within the tolerance and no eigenvector was missed
  not_converged,  // `notes` say what is wrong
};

struct Positions {
  int64_t num_nodes = 0;             // N
  int64_t k = 0;                     // K: columns; more than asked for only if options.extend
  int64_t computed = 0;              // columns that are eigenvectors; the rest is zero padding
  int64_t converged = 0;             // computed columns with a residual within the tolerance
  std::vector<double> eigenvalues;   // [K] ascending, in [0, 2]; 0 in padded columns
  std::vector<double> eigenvectors;  // [N,K] row-major
  std::vector<double> residuals;     // [K] before normalisation and absolute values

  int64_t components = 0;  // connected components, isolated nodes included
  int64_t isolated = 0;
  bool cuts_eigenspace = false;  // eigenvalue K+1 equals eigenvalue K, as far as the residuals tell
  PositionStatus status = PositionStatus::converged;
  std::string solver;  // those used, joined by +: dense, block, inverse, slepc; "none" if nothing had to be solved
  std::vector<std::string> notes;  // for the user, one line each

  double max_residual() const;
};

struct PositionProgress {
  int64_t converged = 0;  // pairs of the component at work
  int64_t wanted = 0;
  int64_t nodes = 0;  // of that component
};
// Returns false to stop: laplacian_positions then throws an Error of kind `interrupted`.
using PositionCallback = std::function<bool(const PositionProgress&)>;

// Throws usage errors for options out of range, a data error for a weight that is not above 0, and `interrupted`; a
// solver that does not converge is a status.
Positions laplacian_positions(const Adjacency& graph, const PositionOptions& options, Threads threads = {},
                              const PositionCallback& progress = {});

// An upper estimate of the bytes laplacian_positions needs beyond the graph, the result included, if the graph is
// one component.
int64_t position_memory(int64_t num_nodes, int64_t num_directed_edges, const PositionOptions& options);

}  // namespace graphpae
