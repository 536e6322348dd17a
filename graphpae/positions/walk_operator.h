// WalkOperator: products of polynomials of S = D^-1/2 A D^-1/2 = I - L with panels of 16 vectors.
//
// S is similar to the random walk P = D^-1 A: p(S) x = D^1/2 p(P) D^-1/2 x. A product with P adds rows and scales
// the sum, so that without weights the graph's indices are all that is read of it: no scaling per edge.
#pragma once

#include <cstdint>
#include <vector>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/threads.h"
#include "graphpae/positions/chebyshev_filter.h"
#include "graphpae/positions/laplacian_graph.h"
#include "graphpae/positions/panel_matrix.h"

namespace graphpae {

class WalkOperator {
 public:
  // The view must outlive the operator. Every node needs a neighbour (itself counts).
  WalkOperator(const LaplacianGraph& graph, Threads threads);

  virtual ~WalkOperator() = default;

  const LaplacianGraph& graph() const { return graph_; }
  int64_t num_nodes() const { return graph_.num_nodes(); }

  // out = filter(S) in; `in` and `out` are [N,16], not the same; `work` has two panels of N rows. Virtual, so that a
  // solver can be given another operator on the same graph.
  virtual void apply(const ChebyshevFilter& filter, const float* in, float* out, PanelMatrix<float>& work) const;
  virtual void apply(const ChebyshevFilter& filter, const double* in, double* out, PanelMatrix<double>& work) const;

 private:
  template <class T>
  void apply_filter(const ChebyshevFilter& filter, const T* in, T* out, PanelMatrix<T>& work) const;

  LaplacianGraph graph_;
  Threads threads_;
  std::vector<int64_t> bounds_;  // ranges of rows with about equal work
};

}  // namespace graphpae
