#include "tests/positions/test_graphs.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>

#include "graphpae/core/rng.h"

namespace graphpae::testing {
namespace {

constexpr double kPi = std::numbers::pi;

TestGraph sorted(TestGraph graph) {
  std::sort(graph.spectrum.begin(), graph.spectrum.end());
  return graph;
}

Edge edge(int64_t a, int64_t b) { return {static_cast<int32_t>(a), static_cast<int32_t>(b)}; }

}  // namespace

TestGraph path(int64_t n) {
  TestGraph graph{n, {}, {}};
  for (int64_t i = 0; i + 1 < n; ++i) graph.edges.push_back(edge(i, i + 1));
  for (int64_t i = 0; i < n; ++i) graph.spectrum.push_back(n == 1 ? 1.0 : 1 - std::cos(kPi * i / (n - 1)));
  return sorted(graph);
}

TestGraph cycle(int64_t n) {
  TestGraph graph{n, {}, {}};
  for (int64_t i = 0; i < n; ++i) graph.edges.push_back(edge(i, (i + 1) % n));
  for (int64_t i = 0; i < n; ++i) graph.spectrum.push_back(1 - std::cos(2 * kPi * i / n));
  return sorted(graph);
}

TestGraph star(int64_t leaves) {
  TestGraph graph{leaves + 1, {}, {0.0, 2.0}};
  for (int64_t i = 1; i <= leaves; ++i) graph.edges.push_back(edge(0, i));
  graph.spectrum.insert(graph.spectrum.end(), leaves - 1, 1.0);
  return sorted(graph);
}

TestGraph complete(int64_t n) {
  TestGraph graph{n, {}, {0.0}};
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < i; ++j) graph.edges.push_back(edge(i, j));
  }
  graph.spectrum.insert(graph.spectrum.end(), n - 1, static_cast<double>(n) / (n - 1));
  return sorted(graph);
}

TestGraph hypercube(int64_t dimensions) {
  const int64_t n = int64_t{1} << dimensions;
  TestGraph graph{n, {}, {}};
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t d = 0; d < dimensions; ++d) {
      if ((i ^ (1 << d)) > i) graph.edges.push_back(edge(i, i ^ (1 << d)));
    }
    graph.spectrum.push_back(2.0 * __builtin_popcountll(i) / dimensions);
  }
  return sorted(graph);
}

TestGraph torus(int64_t rows, int64_t columns) {
  TestGraph graph{rows * columns, {}, {}};
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) {
      graph.edges.push_back(edge(r * columns + c, (r + 1) % rows * columns + c));
      graph.edges.push_back(edge(r * columns + c, r * columns + (c + 1) % columns));
      graph.spectrum.push_back(1 - (std::cos(2 * kPi * r / rows) + std::cos(2 * kPi * c / columns)) / 2);
    }
  }
  return sorted(graph);
}

TestGraph spider(int64_t legs) {
  // Vectors that sum to zero over the legs live on them: a path of two edges cut at the hub, S = +-1/sqrt(2). The
  // symmetric ones are 0, 1 and 2.
  TestGraph graph{2 * legs + 1, {}, {0.0, 1.0, 2.0}};
  for (int64_t i = 0; i < legs; ++i) {
    graph.edges.push_back(edge(0, 1 + 2 * i));
    graph.edges.push_back(edge(1 + 2 * i, 2 + 2 * i));
    if (i > 0) graph.spectrum.insert(graph.spectrum.end(), {1 - std::sqrt(0.5), 1 + std::sqrt(0.5)});
  }
  return sorted(graph);
}

TestGraph isolated(int64_t n) { return {n, {}, std::vector<double>(n, 1.0)}; }

TestGraph random_graph(int64_t n, int64_t edges, uint64_t seed) {
  const Rng rng(seed, 99);
  TestGraph graph{n, {}, {}};
  for (int64_t i = 1; i < n; ++i) graph.edges.push_back(edge(i, rng.below(i, i)));
  for (int64_t e = 0; e < edges; ++e) graph.edges.push_back(edge(rng.below(n + 2 * e, n), rng.below(n + 2 * e + 1, n)));
  return graph;
}

TestGraph disjoint_union(const std::vector<TestGraph>& parts) {
  TestGraph result;
  for (const TestGraph& part : parts) {
    for (const Edge& e : part.edges) result.edges.push_back(edge(result.num_nodes + e.src, result.num_nodes + e.dst));
    result.num_nodes += part.num_nodes;
    result.spectrum.insert(result.spectrum.end(), part.spectrum.begin(), part.spectrum.end());
  }
  if (static_cast<int64_t>(result.spectrum.size()) != result.num_nodes) result.spectrum.clear();
  return sorted(result);
}

TestGraph permuted(const TestGraph& graph, const std::vector<int32_t>& new_number) {
  TestGraph result = graph;
  for (Edge& e : result.edges) e = {new_number[e.src], new_number[e.dst]};
  return result;
}

double residual(const TestGraph& graph, const Positions& positions, int64_t j) {
  const Adjacency adjacency = graph.adjacency();
  double square = 0;
  for (int64_t i = 0; i < graph.num_nodes; ++i) {
    double sum = (1 - positions.eigenvalues[j]) * positions.eigenvectors[i * positions.k + j];
    for (const int32_t v : adjacency.row(i)) {
      sum -= positions.eigenvectors[v * positions.k + j] /
             std::sqrt(static_cast<double>(adjacency.degree(i)) * static_cast<double>(adjacency.degree(v)));
    }
    square += sum * sum;
  }
  return std::sqrt(square);
}

void expect_valid(const TestGraph& graph, const Positions& positions, const PositionOptions& options) {
  const int64_t n = graph.num_nodes, k = positions.k, computed = positions.computed;
  ASSERT_EQ(positions.num_nodes, n);
  ASSERT_EQ(static_cast<int64_t>(positions.eigenvectors.size()), n * k);
  ASSERT_EQ(static_cast<int64_t>(positions.eigenvalues.size()), k);
  EXPECT_EQ(positions.status, PositionStatus::converged);
  EXPECT_EQ(positions.converged, computed);
  for (int64_t j = 0; j < computed; ++j) {
    EXPECT_GE(positions.eigenvalues[j], 0.0);
    EXPECT_LE(positions.eigenvalues[j], 2.0);
    if (j > 0) {
      EXPECT_GE(positions.eigenvalues[j], positions.eigenvalues[j - 1] - 1e-12);
    }
    const double true_residual = residual(graph, positions, j);
    EXPECT_LE(true_residual, options.tolerance) << "pair " << j;
    EXPECT_NEAR(true_residual, positions.residuals[j], 1e-3 * options.tolerance + 1e-13) << "pair " << j;
  }
  double worst = 0;
  for (int64_t a = 0; a < computed; ++a) {
    for (int64_t b = 0; b <= a; ++b) {
      double product = 0;
      for (int64_t i = 0; i < n; ++i) product += positions.eigenvectors[i * k + a] * positions.eigenvectors[i * k + b];
      worst = std::max(worst, std::abs(product - (a == b)));
    }
  }
  EXPECT_LE(worst, 1e-6);
  for (int64_t j = 0; j < computed; ++j) {
    double largest = 0;
    for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(positions.eigenvectors[i * k + j]));
    for (int64_t i = 0; i < n; ++i) {
      if (std::abs(positions.eigenvectors[i * k + j]) < 0.999 * largest) continue;
      EXPECT_GT(positions.eigenvectors[i * k + j], 0) << "sign of pair " << j;
      break;
    }
  }
  if (graph.spectrum.empty() || options.skip_zero) return;
  for (int64_t j = 0; j < computed; ++j) {
    ASSERT_NEAR(positions.eigenvalues[j], graph.spectrum[j], options.tolerance) << "eigenvalue " << j;
  }
}

}  // namespace graphpae::testing
