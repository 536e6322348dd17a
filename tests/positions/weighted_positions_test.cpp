// Positions of graphs whose edges have weights.
#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "graphpae/core/rng.h"
#include "graphpae/positions/laplacian_graph.h"
#include "graphpae/positions/laplacian_positions.h"
#include "graphpae/positions/position_file.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

// A ring with `chords` chords, its edges weighted by `weight` of their ends.
template <class Weight>
Adjacency ring(int32_t nodes, int64_t chords, const Weight& weight) {
  const Rng rng(7);
  std::vector<Edge> edges;
  for (int32_t i = 0; i < nodes; ++i) edges.push_back({i, (i + 1) % nodes});
  for (int64_t c = 0; c < chords; ++c)
    edges.push_back({static_cast<int32_t>(rng.below(2 * c, nodes)), static_cast<int32_t>(rng.below(2 * c + 1, nodes))});
  Adjacency adjacency = Adjacency::from_edges(edges, nodes);
  Buffer<float> weights;
  for (int32_t u = 0; u < nodes; ++u) {
    for (const int32_t v : adjacency.row(u)) weights.push_back(weight(std::min(u, v), std::max(u, v)));
  }
  adjacency.set_weights(std::move(weights));
  return adjacency;
}

float mixed(int32_t u, int32_t v) { return 0.1f + static_cast<float>((u * 31 + v * 17) % 40); }

// The largest ||L u - lambda u||.
double worst_residual(const Adjacency& graph, const Positions& positions) {
  const std::vector<double> strengths = row_strengths(graph);
  double worst = 0;
  for (int64_t j = 0; j < positions.k; ++j) {
    double square = 0, length = 0;
    for (int64_t u = 0; u < graph.num_nodes(); ++u) {
      double sum = (1 - positions.eigenvalues[j]) * positions.eigenvectors[u * positions.k + j];
      for (int64_t e = 0; e < graph.degree(u); ++e) {
        const int32_t v = graph.row(u)[e];
        sum -= graph.row_weights(u)[e] / std::sqrt(strengths[u] * strengths[v]) *
               positions.eigenvectors[v * positions.k + j];
      }
      square += sum * sum;
      length += positions.eigenvectors[u * positions.k + j] * positions.eigenvectors[u * positions.k + j];
    }
    EXPECT_NEAR(length, 1, 1e-9);
    worst = std::max(worst, std::sqrt(square));
  }
  return worst;
}

PositionOptions options_for(PositionSolver solver) {
  PositionOptions options;
  options.k = 12;
  options.solver = solver;
  return options;
}

TEST(WeightedPositions, EverySolverFindsEigenvectorsOfTheWeightedLaplacian) {
  const Adjacency graph = ring(900, 450, mixed);
  const Positions dense = laplacian_positions(graph, options_for(PositionSolver::dense));
  EXPECT_LT(worst_residual(graph, dense), 1e-9);
  for (const PositionSolver solver : {PositionSolver::block, PositionSolver::inverse}) {
    const Positions found = laplacian_positions(graph, options_for(solver));
    EXPECT_EQ(found.status, PositionStatus::converged);
    EXPECT_LT(worst_residual(graph, found), 1e-5);
    for (int64_t j = 0; j < found.k; ++j) EXPECT_NEAR(found.eigenvalues[j], dense.eigenvalues[j], 1e-8) << j;
  }
  PositionOptions ignoring = options_for(PositionSolver::dense);
  ignoring.weights = false;
  const Positions plain = laplacian_positions(graph, ignoring);
  EXPECT_GT(std::abs(plain.eigenvalues[3] - dense.eigenvalues[3]), 1e-6);
}

TEST(WeightedPositions, AScaleOfAllWeightsDoesNotMatter) {
  const Positions halves =
      laplacian_positions(ring(60, 20, [](int32_t, int32_t) { return 0.5f; }), options_for(PositionSolver::automatic));
  Adjacency graph = ring(60, 20, [](int32_t, int32_t) { return 1.0f; });
  graph.set_weights({});
  const Positions plain = laplacian_positions(graph, options_for(PositionSolver::automatic));
  for (int64_t j = 0; j < plain.k; ++j) EXPECT_NEAR(halves.eigenvalues[j], plain.eigenvalues[j], 1e-12);
}

TEST(WeightedPositions, ComponentsKeepTheirWeights) {
  // Two paths of three nodes; the first is pulled to one side.
  Adjacency graph = Adjacency::from_edges(std::vector<Edge>{{0, 1}, {1, 2}, {3, 4}, {4, 5}}, 6);
  graph.set_weights({3, 3, 1, 1, 2, 2, 2, 2});
  PositionOptions options;
  options.k = 6;
  const Positions positions = laplacian_positions(graph, options);
  EXPECT_LT(worst_residual(graph, positions), 1e-12);
  // D^1/2 of the first component: strengths 3, 4, 1 of 8.
  EXPECT_NEAR(positions.eigenvectors[0], std::sqrt(3.0 / 8), 1e-12);
  EXPECT_NEAR(positions.eigenvectors[2 * 6], std::sqrt(1.0 / 8), 1e-12);
}

TEST(WeightedPositions, KeysTellWeightsApartWhereTheyAreUsed) {
  const Adjacency graph = ring(30, 5, mixed);
  Adjacency plain = graph;
  plain.set_weights({});
  PositionOptions options;
  const std::string key = position_key(plain, options);
  EXPECT_NE(position_key(graph, options), key);
  options.weights = false;
  EXPECT_EQ(position_key(graph, options), key);
}

TEST(WeightedPositions, RefusesWeightsThatAreNotAboveZero) {
  const Adjacency graph = ring(10, 0, [](int32_t u, int32_t) { return u == 3 ? -0.5f : 1.0f; });
  PositionOptions options;
  options.k = 3;
  EXPECT_DATA_ERROR(laplacian_positions(graph, options), "between nodes 3 and 4 has weight -0.5");
  options.weights = false;
  EXPECT_NO_THROW(laplacian_positions(graph, options));
}

}  // namespace
}  // namespace graphpae
