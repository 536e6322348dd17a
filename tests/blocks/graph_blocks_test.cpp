#include "graphpae/blocks/graph_blocks.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "graphpae/blocks/randomised_svd.h"
#include "graphpae/core/rng.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

Buffer<Edge> edges_of(std::initializer_list<Edge> edges) { return {edges.begin(), edges.end()}; }

Features numbers(int64_t rows, std::vector<float> values) {
  const auto columns = static_cast<int64_t>(values.size()) / rows;
  return Features::dense(rows, columns, Buffer<float>(values.begin(), values.end()));
}

std::vector<float> row_of(const Features& x, int64_t row) {
  std::vector<float> values(static_cast<size_t>(x.columns()));
  x.copy_row(row, values.data());
  return values;
}

// 0 - 1 - 2 - 0, 2 - 3, and 4 alone; features 1, 2, 4, 8, 16.
Graph small(bool directed = false, std::vector<float> weights = {}) {
  GraphParts parts;
  parts.num_nodes = 5;
  parts.edges.push_back(edges_of({{0, 1}, {1, 2}, {0, 2}, {2, 3}}));
  if (!weights.empty()) parts.weights.push_back(Buffer<float>(weights.begin(), weights.end()));
  parts.directed = directed;
  parts.features = numbers(5, {1, 2, 4, 8, 16});
  return Graph(std::move(parts));
}

TEST(GraphBlocks, MeansOverNeighboursLeaveTheNodeOut) {
  const Graph graph = small();
  const Block block = graph_block(graph, "neighbours");
  ASSERT_EQ(block.columns(), 2);
  const Features& x = *block.rows;
  EXPECT_FLOAT_EQ(row_of(x, 0)[0], 3);                  // of 1 and 2
  EXPECT_FLOAT_EQ(row_of(x, 2)[0], (1 + 2 + 8) / 3.f);  // of 0, 1 and 3
  EXPECT_FLOAT_EQ(row_of(x, 3)[0], 4);
  // From 0: to 1 and on to 2 (1/4), back (1/4); to 2 and on to 1 (1/6), to 3 (1/6), back (1/6).
  EXPECT_NEAR(row_of(x, 0)[1], (4 / 4. + 2 / 6. + 8 / 6.) / (1 - 1 / 4. - 1 / 6.), 1e-5);
  // From 3 all leads through 2: to 0 and 1, or back.
  EXPECT_NEAR(row_of(x, 3)[1], 1.5, 1e-5);
  EXPECT_EQ(row_of(x, 4), (std::vector<float>{0, 0}));
}

TEST(GraphBlocks, WeightsOfEdgesCountInMeans) {
  const Graph graph = small(false, {3, 1, 1, 1});
  BlockOptions options;
  options.hops = 1;
  EXPECT_FLOAT_EQ(row_of(*graph_block(graph, "neighbours", options).rows, 0)[0], (3 * 2 + 4) / 4.f);
}

// A node's own row must not matter to it; those of its neighbours must.
TEST(GraphBlocks, ThreeStepsAndSparseRowsWork) {
  const Graph graph = small();
  BlockOptions options;
  options.hops = 3;
  const Block dense = graph_block(graph, "neighbours", options);
  EXPECT_EQ(dense.columns(), 3);
  GraphParts parts;
  parts.num_nodes = 5;
  parts.edges.push_back(edges_of({{0, 1}, {1, 2}, {0, 2}, {2, 3}}));
  parts.features = Features::sparse(5, 1, {0, 1, 2, 3, 4, 5}, {0, 0, 0, 0, 0}, {1, 2, 4, 8, 16});
  const Graph sparse_graph(std::move(parts));
  const Block sparse = graph_block(sparse_graph, "neighbours", options);
  for (int64_t i = 0; i < 5; ++i) EXPECT_EQ(row_of(*dense.rows, i), row_of(*sparse.rows, i));
}

TEST(GraphBlocks, RowsOfTheAdjacencyMatrixHaveLengthOne) {
  const Graph graph = small();
  const Block block = graph_block(graph, "adjacency");
  EXPECT_TRUE(block.rows->is_sparse());
  EXPECT_EQ(block.columns(), 5);
  const float third = 1 / std::sqrt(3.f);
  EXPECT_EQ(row_of(*block.rows, 2), (std::vector<float>{third, third, 0, third, 0}));
  EXPECT_EQ(row_of(*block.rows, 4), std::vector<float>(5, 0.0f));
}

TEST(GraphBlocks, DirectedEdgesLeaveAndArriveApart) {
  const Graph graph = small(true);
  const Block block = graph_block(graph, "adjacency");
  ASSERT_EQ(block.columns(), 10);
  const float half = 1 / std::sqrt(2.f);
  EXPECT_EQ(row_of(*block.rows, 0), (std::vector<float>{0, half, half, 0, 0, 0, 0, 0, 0, 0}));
  EXPECT_EQ(row_of(*block.rows, 2), (std::vector<float>{0, 0, 0, 1, 0, half, half, 0, 0, 0}));
  const Block degree = graph_block(graph, "degree");
  ASSERT_EQ(degree.columns(), 2);
  EXPECT_FLOAT_EQ(row_of(*degree.rows, 2)[0], std::log1p(1.f));
  EXPECT_FLOAT_EQ(row_of(*degree.rows, 2)[1], std::log1p(2.f));
}

TEST(GraphBlocks, PositionsAreWhitened) {
  const Graph graph = small();
  BlockOptions options;
  options.eigenvectors = 3;
  const Block block = graph_block(graph, "positions", options);
  ASSERT_EQ(block.columns(), 3);
  for (int64_t c = 0; c < 3; ++c) {
    double mean = 0, square = 0;
    for (int64_t i = 0; i < 5; ++i) {
      mean += row_of(*block.rows, i)[c] / 5;
      square += row_of(*block.rows, i)[c] * row_of(*block.rows, i)[c] / 5;
    }
    EXPECT_NEAR(mean, 0, 1e-6);
    EXPECT_NEAR(square, 1, 1e-5);
  }
}

TEST(GraphBlocks, NamesAreCheckedAndSuggested) {
  const Graph graph = small();
  EXPECT_USAGE_ERROR(parse_block_names("neighbours,adjacancy"), "did you mean 'adjacency'");
  EXPECT_USAGE_ERROR(parse_block_names("degree,degree"), "twice");
  EXPECT_USAGE_ERROR(parse_block_names(""), "unknown block ''");
  EXPECT_EQ(parse_block_names("degree,pretrained"), (std::vector<std::string>{"degree", "pretrained"}));
  EXPECT_USAGE_ERROR(graph_block(graph, "morgan"), "not of a graph");
  GraphParts parts;
  parts.num_nodes = 2;
  parts.edges.push_back(edges_of({{0, 1}}));
  const Graph bare(std::move(parts));
  EXPECT_USAGE_ERROR(graph_block(bare, "neighbours"), "no node features");
  EXPECT_EQ(graph_block_names(bare).front(), "adjacency");
}

// A ring of 300 nodes with chords: products of rows before and after a reduction that keeps everything.
Graph ring(bool directed, int64_t features) {
  constexpr int32_t kRing = 60;
  GraphParts parts;
  parts.num_nodes = kRing;
  Buffer<Edge> edges;
  for (int32_t i = 0; i < kRing; ++i) {
    edges.push_back({i, (i + 1) % kRing});
    edges.push_back({i, (i * 7 + 3) % kRing});
  }
  parts.edges.push_back(std::move(edges));
  parts.directed = directed;
  std::vector<float> values(static_cast<size_t>(kRing * features));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(Rng(5).normal(i));
  parts.features = numbers(kRing, values);
  return Graph(std::move(parts));
}

double product_of_rows(const Features& x, int64_t i, int64_t j) {
  const auto a = row_of(x, i), b = row_of(x, j);
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

TEST(GraphBlocks, ReducedBlocksKeepTheProductsOfTheirRows) {
  for (const bool directed : {false, true}) {
    const Graph graph = ring(directed, 4);
    BlockOptions whole, reduced;
    reduced.wide_values = 10;
    const Block one = graph_block(graph, "adjacency", whole), other = graph_block(graph, "adjacency", reduced);
    EXPECT_FALSE(one.rotated);
    ASSERT_TRUE(other.rotated);
    EXPECT_EQ(other.reduced_from, directed ? 120 : 60);
    EXPECT_EQ(other.columns(), 60);
    for (int64_t i = 0; i < 60; ++i)
      EXPECT_NEAR(product_of_rows(*one.rows, i, (i * 5) % 60), product_of_rows(*other.rows, i, (i * 5) % 60), 2e-3);
  }
  const Graph graph = ring(false, 4);
  BlockOptions reduced;
  reduced.most_values = 100;
  const Block one = graph_block(graph, "neighbours"), other = graph_block(graph, "neighbours", reduced);
  EXPECT_TRUE(other.rotated);
  EXPECT_EQ(other.reduced_from, 8);
  for (int64_t i = 0; i < 60; ++i)
    EXPECT_NEAR(product_of_rows(*one.rows, i, (i * 5) % 60), product_of_rows(*other.rows, i, (i * 5) % 60), 1e-4);
}

TEST(RandomisedSvd, FindsTheLeadingDirections) {
  // Rank one and a little noise: the first column holds nearly all of it, the same with any number of threads.
  constexpr int64_t kRows = 200, kColumns = 30;
  Buffer<float> values(static_cast<size_t>(kRows * kColumns));
  for (int64_t i = 0; i < kRows; ++i) {
    for (int64_t d = 0; d < kColumns; ++d)
      values[i * kColumns + d] = static_cast<float>((1 + i % 7) * (d % 3 + 1) + 0.01 * Rng(1).normal(i * kColumns + d));
  }
  double all = 0;
  for (const float value : values) all += static_cast<double>(value) * value;
  const Features x = Features::dense(kRows, kColumns, std::move(values));
  const Features few = leading_columns(x, 2, 9, Threads{}), again = leading_columns(x, 2, 9, Threads{3});
  double first = 0, second = 0;
  for (int64_t i = 0; i < kRows; ++i) {
    first += std::pow(few.dense_row(i)[0], 2);
    second += std::pow(few.dense_row(i)[1], 2);
    EXPECT_EQ(row_of(few, i), row_of(again, i));
  }
  EXPECT_GT(first, 0.999 * all);
  EXPECT_LT(second, 1e-3 * all);
}

}  // namespace
}  // namespace graphpae
