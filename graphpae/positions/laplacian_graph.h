// LaplacianGraph: the rows of an undirected graph as the eigen-solvers see them, with weights or without. The Laplacian
// is I - D^-1/2 W D^-1/2 with the weights W (1 without any) and their sums over rows D.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphpae/core/adjacency.h"

namespace graphpae {

struct LaplacianGraph : GraphView {
  LaplacianGraph(const GraphView& view) : GraphView(view) {}  // NOLINT: a graph without weights
  LaplacianGraph(const GraphView& view, std::span<const float> of_edges, std::span<const double> of_nodes)
      : GraphView(view), weights(of_edges), strengths(of_nodes) {}

  bool has_weights() const { return !weights.empty(); }
  // Of a node: the sum of the weights of its edges, or how many they are.
  double strength(int64_t node) const {
    return strengths.empty() ? static_cast<double>(degree(node)) : strengths[static_cast<size_t>(node)];
  }
  // Of the edge at a place of `neighbours`.
  double weight(int64_t edge) const { return weights.empty() ? 1.0 : weights[static_cast<size_t>(edge)]; }
  double volume() const;  // the strengths of all nodes

  std::span<const float> weights;     // [offsets[N]] above 0, the same for both directions; or empty
  std::span<const double> strengths;  // [N] with weights
};

// [N] sums of the weights of each row. Throws a data error that names an edge whose weight is not above 0.
std::vector<double> row_strengths(const Adjacency& graph);

}  // namespace graphpae
