// Graphs with known spectra, and checks on positions that every test shares.
#pragma once

#include <cstdint>
#include <vector>

#include "graphpae/core/adjacency.h"
#include "graphpae/positions/laplacian_positions.h"

namespace graphpae::testing {

struct TestGraph {
  int64_t num_nodes = 0;
  std::vector<Edge> edges;
  std::vector<double> spectrum;  // [N] eigenvalues of L, ascending; empty if not known

  Adjacency adjacency() const { return Adjacency::from_edges(edges, num_nodes); }
};

TestGraph path(int64_t n);
TestGraph cycle(int64_t n);
TestGraph star(int64_t leaves);
TestGraph complete(int64_t n);
TestGraph hypercube(int64_t dimensions);
TestGraph torus(int64_t rows, int64_t columns);  // a grid with wrap-around, both sizes >= 3
TestGraph spider(int64_t legs);                  // a hub with legs of two nodes: two eigenvalues legs-1 times
TestGraph isolated(int64_t n);
TestGraph random_graph(int64_t n, int64_t edges, uint64_t seed);  // connected
TestGraph disjoint_union(const std::vector<TestGraph>& parts);
TestGraph permuted(const TestGraph& graph, const std::vector<int32_t>& new_number);

// || L u - lambda u || computed edge by edge, for column j.
double residual(const TestGraph& graph, const Positions& positions, int64_t j);

// Asserts shape, order and range of eigenvalues, orthonormality to 1e-6, residuals within the tolerance and as
// reported, signs, and, if the spectrum is known, that the K smallest eigenvalues are all there.
void expect_valid(const TestGraph& graph, const Positions& positions, const PositionOptions& options);

}  // namespace graphpae::testing
