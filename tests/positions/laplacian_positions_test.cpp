#include "graphpae/positions/laplacian_positions.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/core/rng.h"
#include "tests/positions/test_graphs.h"

namespace graphpae {
namespace {

using testing::TestGraph;

PositionOptions with(int64_t k, PositionSolver solver = PositionSolver::automatic) {
  PositionOptions options;
  options.k = k;
  options.solver = solver;
  return options;
}

struct ClosedForm {
  const char* name;
  TestGraph graph;
  std::vector<int64_t> ks;
};

// Large enough for the block solver (which needs 512 nodes), with multiplicities above its 16 columns.
std::vector<ClosedForm> closed_forms() {
  using namespace testing;
  return {
      {"path", path(700), {1, 7, 40}},
      {"cycle", cycle(1201), {1, 2, 9, 40}},
      {"star", star(1500), {1, 2, 30, 60}},
      {"complete", complete(600), {1, 3, 50}},
      {"hypercube", hypercube(10), {1, 11, 30, 56, 70}},
      {"torus", torus(30, 41), {1, 5, 33}},
      {"square torus", torus(36, 36), {5, 9, 21, 60}},
      {"spider", spider(500), {1, 17, 40, 100}},
      {"union",
       disjoint_union({hypercube(10), isolated(3), star(900), cycle(5), path(600), hypercube(10)}),
       {3, 24, 60}},
  };
}

TEST(LaplacianPositions, FindsClosedFormSpectraWithEverySolver) {
  for (const ClosedForm& form : closed_forms()) {
    for (const int64_t k : form.ks) {
      for (const PositionSolver solver : {PositionSolver::block, PositionSolver::dense}) {
        if (solver == PositionSolver::dense && k != form.ks.back()) continue;  // it finds all of them anyway
        SCOPED_TRACE(::testing::Message()
                     << form.name << " k=" << k << (solver == PositionSolver::block ? " block" : " dense"));
        const PositionOptions options = with(k, solver);
        const Positions positions = laplacian_positions(form.graph.adjacency(), options);
        expect_valid(form.graph, positions, options);
      }
    }
  }
}

TEST(LaplacianPositions, TheBlockSolverIsTheOneThatRan) {
  EXPECT_EQ(laplacian_positions(testing::hypercube(10).adjacency(), with(30, PositionSolver::block)).solver, "block");
  EXPECT_EQ(laplacian_positions(testing::hypercube(10).adjacency(), with(30, PositionSolver::dense)).solver, "dense");
  EXPECT_EQ(laplacian_positions(testing::random_graph(3000, 9000, 1).adjacency(), with(30)).solver, "block");
}

// Eigenvalues closer to each other than float32 can tell, and multiplicities far above a panel.
TEST(LaplacianPositions, TheInverseSolverProvesItsSpectra) {
  PositionOptions options;
  options.k = 20;
  for (const TestGraph& graph : {testing::path(20000), testing::cycle(5001), testing::torus(30, 101),
                                 testing::star(3000), testing::spider(1500)}) {
    const Positions positions = laplacian_positions(graph.adjacency(), options, Threads{2});
    EXPECT_EQ(positions.solver, "inverse");
    EXPECT_EQ(positions.status, PositionStatus::converged);
    expect_valid(graph, positions, options);
    EXPECT_EQ(laplacian_positions(graph.adjacency(), options, Threads{1}).eigenvectors, positions.eigenvectors);
  }
}

// The eigenvalues of a long path are close to each other, but there is only one of each.
TEST(LaplacianPositions, CloseEigenvaluesAreNotTakenForEqual) {
  PositionOptions options;
  options.k = 20;
  EXPECT_FALSE(laplacian_positions(testing::path(20000).adjacency(), options, Threads{2}).cuts_eigenspace);
  EXPECT_TRUE(laplacian_positions(testing::cycle(20000).adjacency(), options, Threads{2}).cuts_eigenspace);
}

TEST(LaplacianPositions, TheInverseSolverLeavesDenseGraphsAlone) {
  const TestGraph graph = testing::random_graph(3000, 30000, 5);
  PositionOptions options;
  options.k = 10;
  EXPECT_EQ(laplacian_positions(graph.adjacency(), options).solver, "block");
}

TEST(LaplacianPositions, ReachesTightTolerances) {
  for (const double tolerance : {1e-7, 1e-10}) {
    PositionOptions options = with(20, PositionSolver::block);
    options.tolerance = tolerance;
    const TestGraph graph = testing::torus(20, 51);
    expect_valid(graph, laplacian_positions(graph.adjacency(), options), options);
  }
}

TEST(LaplacianPositions, SmallGraphs) {
  using namespace testing;
  for (const TestGraph& graph : {path(1), path(2), path(3), cycle(3), star(2), star(5), complete(4), isolated(5),
                                 disjoint_union({isolated(2), path(2), cycle(4), isolated(1)})}) {
    for (int64_t k = 1; k <= graph.num_nodes + 3; ++k) {
      SCOPED_TRACE(::testing::Message() << graph.num_nodes << " nodes, k=" << k);
      const Positions positions = laplacian_positions(graph.adjacency(), with(k));
      expect_valid(graph, positions, with(k));
      EXPECT_EQ(positions.k, k);
      EXPECT_EQ(positions.computed, std::min(k, graph.num_nodes));
      EXPECT_EQ(positions.notes.empty(), k <= graph.num_nodes && !positions.cuts_eigenspace);
      for (int64_t i = 0; i < graph.num_nodes; ++i) {
        for (int64_t j = positions.computed; j < k; ++j) EXPECT_EQ(positions.eigenvectors[i * k + j], 0.0);
      }
    }
  }
}

TEST(LaplacianPositions, NoNodes) {
  const Positions positions = laplacian_positions(Adjacency(), with(3));
  EXPECT_EQ(positions.computed, 0);
  EXPECT_EQ(positions.k, 3);
}

TEST(LaplacianPositions, KCloseToN) {
  const TestGraph graph = testing::torus(20, 30);
  for (const int64_t k : {500, 599, 600, 601})
    expect_valid(graph, laplacian_positions(graph.adjacency(), with(k)), with(k));
}

TEST(LaplacianPositions, WithMoreComponentsThanKTakesTheLargest) {
  const TestGraph graph =
      testing::disjoint_union({testing::path(2), testing::cycle(7), testing::path(4), testing::cycle(7)});
  const Positions positions = laplacian_positions(graph.adjacency(), with(3));
  expect_valid(graph, positions, with(3));
  EXPECT_TRUE(positions.cuts_eigenspace);
  EXPECT_NEAR(positions.eigenvectors[2 * 3 + 0], 1 / std::sqrt(7.0), 1e-12);   // the first cycle
  EXPECT_NEAR(positions.eigenvectors[13 * 3 + 1], 1 / std::sqrt(7.0), 1e-12);  // the second
  EXPECT_NEAR(positions.eigenvectors[9 * 3 + 2], 1 / std::sqrt(6.0), 1e-12);   // the path of four
}

TEST(LaplacianPositions, WarnsWhenKCutsAnEigenspaceAndExtends) {
  const TestGraph graph = testing::hypercube(10);
  for (const PositionSolver solver : {PositionSolver::block, PositionSolver::dense}) {
    PositionOptions options = with(20, solver);
    Positions positions = laplacian_positions(graph.adjacency(), options);
    EXPECT_TRUE(positions.cuts_eigenspace);
    EXPECT_EQ(positions.notes.size(), 1u);
    EXPECT_FALSE(laplacian_positions(graph.adjacency(), with(11, solver)).cuts_eigenspace);
    EXPECT_FALSE(laplacian_positions(graph.adjacency(), with(56, solver)).cuts_eigenspace);

    options.extend = true;
    positions = laplacian_positions(graph.adjacency(), options);
    EXPECT_EQ(positions.k, 56);
    EXPECT_FALSE(positions.cuts_eigenspace);
    expect_valid(graph, positions, options);

    options.extend_limit = 40;
    positions = laplacian_positions(graph.adjacency(), options);
    EXPECT_EQ(positions.k, 20);
    EXPECT_TRUE(positions.cuts_eigenspace);
  }
}

TEST(LaplacianPositions, ExtendsOverComponents) {
  PositionOptions options = with(2);
  options.extend = true;
  const TestGraph graph =
      testing::disjoint_union({testing::path(2), testing::path(2), testing::path(2), testing::path(3)});
  const Positions positions = laplacian_positions(graph.adjacency(), options);
  EXPECT_EQ(positions.k, 4);
  expect_valid(graph, positions, options);
}

TEST(LaplacianPositions, SkipsZeroEigenvalues) {
  const TestGraph graph = testing::disjoint_union({testing::cycle(700), testing::path(2), testing::hypercube(4)});
  for (const PositionSolver solver : {PositionSolver::block, PositionSolver::dense}) {
    PositionOptions options = with(6, solver);
    options.skip_zero = true;
    const Positions positions = laplacian_positions(graph.adjacency(), options);
    expect_valid(graph, positions, options);
    for (int64_t j = 0; j < 6; ++j) EXPECT_NEAR(positions.eigenvalues[j], graph.spectrum[3 + j], 1e-5);
  }
  PositionOptions options = with(4);
  options.skip_zero = true;
  EXPECT_EQ(laplacian_positions(testing::path(3).adjacency(), options).computed, 2);
}

TEST(LaplacianPositions, NormalisesAndTakesAbsoluteValues) {
  const TestGraph graph = testing::random_graph(40, 60, 5);
  const Positions plain = laplacian_positions(graph.adjacency(), with(5));
  const auto column = [&](const PositionNormalisation normalisation, int64_t j) {
    PositionOptions options = with(5);
    options.normalisation = normalisation;
    const Positions positions = laplacian_positions(graph.adjacency(), options);
    std::vector<double> result;
    for (int64_t i = 0; i < 40; ++i) result.push_back(positions.eigenvectors[i * 5 + j]);
    return result;
  };
  double sum = 0, largest = 0;
  for (int64_t i = 0; i < 40; ++i) {
    sum += std::abs(plain.eigenvectors[i * 5 + 3]);
    largest = std::max(largest, std::abs(plain.eigenvectors[i * 5 + 3]));
  }
  const double root = std::sqrt(plain.eigenvalues[3]);
  for (int64_t i = 0; i < 40; ++i) {
    const double u = plain.eigenvectors[i * 5 + 3];
    EXPECT_NEAR(column(PositionNormalisation::l1, 3)[i], u / sum, 1e-12);
    EXPECT_NEAR(column(PositionNormalisation::l2, 3)[i], u, 1e-12);
    EXPECT_NEAR(column(PositionNormalisation::max_abs, 3)[i], u / largest, 1e-12);
    EXPECT_NEAR(column(PositionNormalisation::wavelength, 3)[i], u / largest / root * std::acos(0.0), 1e-11);
    EXPECT_NEAR(column(PositionNormalisation::wavelength_asin, 3)[i], std::asin(u / largest) / root, 1e-11);
  }
  PositionOptions options = with(5);
  options.absolute = true;
  const Positions absolute = laplacian_positions(graph.adjacency(), options);
  for (int64_t i = 0; i < 200; ++i) EXPECT_EQ(absolute.eigenvectors[i], std::abs(plain.eigenvectors[i]));
}

TEST(LaplacianPositions, AnyNumberOfThreadsGivesTheSameBits) {
  const TestGraph graph = testing::disjoint_union(
      {testing::random_graph(2500, 9000, 3), testing::star(700), testing::cycle(30), testing::path(4)});
  for (const double tolerance : {1e-5, 1e-8}) {
    PositionOptions options = with(24);
    options.tolerance = tolerance;
    options.normalisation = PositionNormalisation::l1;
    const Positions one = laplacian_positions(graph.adjacency(), options, Threads{1});
    for (const int count : {2, 3}) {
      const Positions several = laplacian_positions(graph.adjacency(), options, Threads{count});
      EXPECT_EQ(one.eigenvalues, several.eigenvalues);
      EXPECT_EQ(one.eigenvectors, several.eigenvectors);
      EXPECT_EQ(one.residuals, several.residuals);
    }
  }
}

// Entries of the projection onto the first k eigenvectors do not depend on signs or bases.
double projection(const Positions& p, int64_t a, int64_t b) {
  double sum = 0;
  for (int64_t j = 0; j < p.k; ++j) sum += p.eigenvectors[a * p.k + j] * p.eigenvectors[b * p.k + j];
  return sum;
}

TEST(LaplacianPositions, PermutingNodesPermutesPositions) {
  for (const auto& [graph, k] :
       {std::pair(testing::hypercube(10), int64_t{11}), std::pair(testing::torus(30, 41), int64_t{3}),
        std::pair(testing::random_graph(80, 100, 4), int64_t{10})}) {
    const std::vector<int32_t> order = Rng(11).permutation(static_cast<int32_t>(graph.num_nodes));
    PositionOptions options = with(k, PositionSolver::block);
    options.tolerance = 1e-7;
    const Positions before = laplacian_positions(graph.adjacency(), options);
    const Positions after = laplacian_positions(permuted(graph, order).adjacency(), options);
    ASSERT_FALSE(before.cuts_eigenspace);
    for (int64_t j = 0; j < k; ++j) EXPECT_NEAR(before.eigenvalues[j], after.eigenvalues[j], 1e-9);
    for (int64_t i = 0; i < graph.num_nodes; i += 7) {
      for (int64_t j = 0; j < graph.num_nodes; j += 13) {
        EXPECT_NEAR(projection(before, i, j), projection(after, order[i], order[j]), 1e-5);
      }
    }
  }
}

// Twin nodes (same neighbours) put eigenvalue 1 in as often as wanted; disjoint copies multiply everything.
TEST(LaplacianPositions, AgreesWithTheDenseSolverOnRandomGraphsWithMultiplicities) {
  for (uint64_t seed = 0; seed < 6; ++seed) {
    const Rng rng(seed, 5);
    TestGraph graph = testing::random_graph(650 + 40 * static_cast<int64_t>(seed), 500, seed);
    const int64_t legs = 20 + 10 * static_cast<int64_t>(seed);
    const int32_t hub = static_cast<int32_t>(rng.below(0, 100));
    for (int64_t leg = 0; leg < legs; ++leg) {  // pendant paths at one node: an eigenvalue of multiplicity legs - 1
      const int32_t a = static_cast<int32_t>(graph.num_nodes);
      graph.num_nodes += 2;
      graph.edges.push_back({hub, a});
      graph.edges.push_back({a, a + 1});
    }
    if (seed % 2 == 1) graph = testing::disjoint_union({graph, graph});
    for (const int64_t k : {10, 60, 110}) {
      SCOPED_TRACE(::testing::Message() << "seed " << seed << " k " << k);
      const Positions dense = laplacian_positions(graph.adjacency(), with(k, PositionSolver::dense));
      const Positions block = laplacian_positions(graph.adjacency(), with(k, PositionSolver::block));
      expect_valid(graph, block, with(k));
      EXPECT_EQ(block.solver, "block");
      for (int64_t j = 0; j < k; ++j) ASSERT_NEAR(block.eigenvalues[j], dense.eigenvalues[j], 1e-6) << j;
    }
  }
}

TEST(LaplacianPositions, KeptSelfLoopsCount) {
  EdgeOptions keep;
  keep.self_loops = SelfLoops::keep;
  const std::vector<Edge> edges = {{0, 0}, {0, 1}, {2, 2}};
  const Positions positions = laplacian_positions(Adjacency::from_edges(edges, 3, keep), with(3));
  // Node 2 alone with its loop: 0. Nodes 0, 1: D = (2, 1), L = [1/2, -1/sqrt 2; -1/sqrt 2, 1], eigenvalues 0 and 3/2.
  EXPECT_NEAR(positions.eigenvalues[0], 0.0, 1e-12);
  EXPECT_NEAR(positions.eigenvalues[1], 0.0, 1e-12);
  EXPECT_NEAR(positions.eigenvalues[2], 1.5, 1e-12);
}

TEST(LaplacianPositions, CanBeInterrupted) {
  const TestGraph graph = testing::random_graph(3000, 9000, 1);
  int64_t calls = 0;
  try {
    laplacian_positions(graph.adjacency(), with(20), Threads{2}, [&](const PositionProgress& progress) {
      EXPECT_EQ(progress.nodes, 3000);
      return ++calls < 3;
    });
    FAIL() << "not interrupted";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::interrupted);
  }
  EXPECT_EQ(calls, 3);
}

TEST(LaplacianPositions, RefusesOptionsOutOfRange) {
  EXPECT_THROW(laplacian_positions(testing::path(3).adjacency(), with(0)), Error);
  PositionOptions options = with(1);
  options.tolerance = 0;
  EXPECT_THROW(laplacian_positions(testing::path(3).adjacency(), options), Error);
}

}  // namespace
}  // namespace graphpae
