// SparseFactor: L - shift I = P^T (F D F^T) P with a sparse triangular F, for graphs that stay sparse when they are
// eliminated: paths, trees, grids, road networks, long chains.
#pragma once

#include <cstdint>
#include <memory>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/threads.h"
#include "graphpae/positions/laplacian_graph.h"
#include "graphpae/positions/panel_matrix.h"

namespace graphpae {

class SparseFactor {
 public:
  // The order of elimination and the places of F; nothing is computed yet.
  explicit SparseFactor(const LaplacianGraph& graph);
  ~SparseFactor();

  int64_t fill() const;  // entries of F below its diagonal

  // False if a pivot vanishes: take another shift.
  bool factor(double shift);

  // Of the last factor: how many pivots are negative. By Sylvester's law, as many eigenvalues of L are below the shift.
  int64_t negative_pivots() const;

  // out = (L - shift I)^-1 in; both [N,16].
  void solve(const double* in, double* out, Threads threads) const;

 private:
  struct State;
  LaplacianGraph graph_;
  std::unique_ptr<State> state_;
};

}  // namespace graphpae
