#include "graphpae/positions/structure.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/positions/test_graphs.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

using namespace testing;

double back(float value) { return std::exp(static_cast<double>(value)) - 1e-3; }

TEST(Structure, DegreesOfAStar) {
  const Buffer<float> rows = degree_rows(star(4).adjacency());
  ASSERT_EQ(rows.size(), 15u);
  EXPECT_FLOAT_EQ(rows[0], std::log(5.0f));
  EXPECT_FLOAT_EQ(rows[1], std::log(2.0f));
  EXPECT_NEAR(rows[2], 0, 1e-6);
  EXPECT_FLOAT_EQ(rows[3], std::log(2.0f));
  EXPECT_FLOAT_EQ(rows[4], std::log(5.0f));
  // Neighbours of degree 1 and 3.
  const std::vector<Edge> edges = {{0, 1}, {0, 2}, {2, 3}, {2, 4}};
  const Buffer<float> mixed = degree_rows(Adjacency::from_edges(edges, 6));
  const double mean = (std::log(2.0) + std::log(4.0)) / 2;
  EXPECT_NEAR(mixed[1], mean, 1e-6);
  EXPECT_NEAR(mixed[2], std::log(4.0) - mean, 1e-6);
  EXPECT_EQ(mixed[5 * 3], 0);  // isolated
  EXPECT_EQ(mixed[5 * 3 + 1], 0);
}

// Known in closed form: a walk on a cycle of 5 is back after 2 steps with 1/2, after 3 never, after 4 with 6/16, after
// 5 with 2/32.
TEST(Structure, WalksReturn) {
  const Buffer<float> rows = walk_rows(cycle(5).adjacency(), 5, 1);
  ASSERT_EQ(rows.size(), 20u);
  const double expected[] = {0.5, 0, 0.375, 0.0625};
  for (int64_t i = 0; i < 5; ++i) {
    for (int64_t k = 0; k < 4; ++k) EXPECT_NEAR(back(rows[i * 4 + k]), expected[k], 1e-5) << i << " " << k;
  }
  const Buffer<float> lone = walk_rows(isolated(3).adjacency(), 4, 1);
  for (const float value : lone) EXPECT_NEAR(back(value), 0, 1e-7);
  EXPECT_USAGE_ERROR(walk_rows(cycle(5).adjacency(), 1, 1), "expected at least 2");
}

// Against the powers of the whole matrix.
TEST(Structure, WalksEqualPowersOfTheMatrix) {
  const Adjacency graph = random_graph(90, 300, 5).adjacency();
  const int64_t n = graph.num_nodes(), steps = 6;
  const Buffer<float> rows = walk_rows(graph, steps, 1);
  std::vector<double> power(static_cast<size_t>(n * n)), next(power.size());
  for (int64_t i = 0; i < n; ++i) power[i * n + i] = 1;
  for (int64_t step = 1; step <= steps; ++step) {
    std::fill(next.begin(), next.end(), 0.0);
    for (int64_t i = 0; i < n; ++i) {
      for (const int32_t j : graph.row(i)) {
        for (int64_t c = 0; c < n; ++c) next[i * n + c] += power[j * n + c] / static_cast<double>(graph.degree(i));
      }
    }
    power.swap(next);
    for (int64_t i = 0; i < n && step >= 2; ++i)
      EXPECT_NEAR(back(rows[i * (steps - 1) + step - 2]), power[i * n + i], 1e-5) << step << " " << i;
  }
}

// Where the exact way is too long: a cycle, of which all nodes are alike.
TEST(Structure, EstimatedWalksAreNearlyRight) {
  const Buffer<float> rows = walk_rows(cycle(30000).adjacency(), 4, 7, Threads{2});
  double sum = 0, squares = 0;
  for (size_t i = 0; i < rows.size(); i += 3) {
    sum += back(rows[i]);
    squares += std::pow(back(rows[i]) - 0.5, 2);
  }
  EXPECT_NEAR(sum / 30000, 0.5, 0.005);
  EXPECT_LT(std::sqrt(squares / 30000), 0.08);
}

TEST(Structure, NodesWithTheSameNeighboursHaveTheSameRow) {
  const Buffer<float> rows = neighbour_rows(star(5).adjacency(), 100, 3);
  for (int64_t leaf = 2; leaf <= 5; ++leaf) {
    for (int64_t c = 0; c < 100; ++c) ASSERT_EQ(rows[leaf * 100 + c], rows[100 + c]);
  }
  double length = 0, with_hub = 0;
  for (int64_t c = 0; c < 100; ++c) {
    length += rows[c] * rows[c];
    with_hub += rows[c] * rows[100 + c];
  }
  EXPECT_NEAR(length, 1, 1e-5);
  EXPECT_LT(std::abs(with_hub), 0.5);  // the hub has other neighbours
  EXPECT_EQ(neighbour_rows(isolated(2).adjacency(), 3, 1), Buffer<float>(6, 0.0f));
}

TEST(Structure, ThreadsDoNotMatterAndSeedsDo) {
  const Adjacency graph = random_graph(1500, 6000, 2).adjacency();
  EXPECT_EQ(degree_rows(graph, {1}), degree_rows(graph, {3}));
  EXPECT_EQ(walk_rows(graph, 8, 1, {1}), walk_rows(graph, 8, 1, {3}));
  EXPECT_EQ(neighbour_rows(graph, 70, 1, {1}), neighbour_rows(graph, 70, 1, {3}));
  EXPECT_NE(neighbour_rows(graph, 70, 1), neighbour_rows(graph, 70, 2));
}

}  // namespace
}  // namespace graphpae
