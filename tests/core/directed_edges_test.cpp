// Weights and directions of edges.
#include "graphpae/core/directed_edges.h"

#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "graphpae/core/graph.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

template <class T>
std::vector<T> list(std::span<const T> values) {
  return {values.begin(), values.end()};
}

GraphParts weighted_parts() {
  GraphParts parts;
  parts.num_nodes = 4;
  // 0-1 in both directions, 1-2 twice in one, 2-3 once, a self loop; in two blocks.
  parts.edges = {{Edge{0, 1}, Edge{1, 0}, Edge{1, 2}}, {Edge{1, 2}, Edge{3, 2}, Edge{3, 3}}};
  parts.weights = {{1.0f, 3.0f, 0.5f}, {0.25f, 4.0f, 9.0f}};
  return parts;
}

TEST(DirectedEdges, RepeatsAreAddedUp) {
  const GraphParts parts = weighted_parts();
  const DirectedEdges edges(parts.edges, parts.weights, 4, false);
  EXPECT_EQ(list(edges.offsets()), (std::vector<int64_t>{0, 1, 3, 3, 4}));
  EXPECT_EQ(list(edges.targets()), (std::vector<int32_t>{1, 0, 2, 2}));
  EXPECT_EQ(list(edges.weights()), (std::vector<float>{1, 3, 0.75, 4}));
  EXPECT_EQ(edges.find(1, 2), 2);
  EXPECT_EQ(edges.find(2, 1), -1);
  EXPECT_EQ(edges.num_reciprocal(), 2);
  EXPECT_EQ(DirectedEdges(parts.edges, parts.weights, 4, true).num_edges(), 5);
}

TEST(DirectedEdges, UndirectedWeightsAreMeansOfBothDirectionsDirectedOnesSums) {
  const Graph undirected(weighted_parts());
  const Adjacency& a = undirected.adjacency();
  EXPECT_EQ(list(a.neighbours()), (std::vector<int32_t>{1, 0, 2, 1, 3, 2}));
  EXPECT_EQ(list(a.weights()), (std::vector<float>{2, 2, 0.75, 0.75, 4, 4}));
  EXPECT_EQ(a.row_weights(2)[1], 4.0f);
  EXPECT_FALSE(undirected.is_directed());
  EXPECT_EQ(undirected.directed_edges().num_edges(), 0);

  GraphParts parts = weighted_parts();
  parts.directed = true;
  const Graph directed(std::move(parts));
  EXPECT_EQ(list(directed.adjacency().weights()), (std::vector<float>{4, 4, 0.75, 0.75, 4, 4}));
  EXPECT_EQ(directed.directed_edges().num_edges(), 4);
  EXPECT_EQ(list(directed.directed_edges().row(3)), (std::vector<int32_t>{2}));
}

TEST(DirectedEdges, AGraphWithoutWeightsHasNone) {
  GraphParts parts = weighted_parts();
  parts.weights.clear();
  parts.directed = true;
  const Graph graph(std::move(parts));
  EXPECT_FALSE(graph.adjacency().has_weights());
  EXPECT_EQ(graph.directed_edges().num_edges(), 4);
  EXPECT_FALSE(graph.directed_edges().has_weights());
}

TEST(DirectedEdges, ASelfLoopThatIsKeptHasItsWeightOnce) {
  const Graph graph(weighted_parts(), {SelfLoops::keep, Repeats::merge});
  EXPECT_EQ(list(graph.adjacency().row(3)), (std::vector<int32_t>{2, 3}));
  EXPECT_EQ(graph.adjacency().row_weights(3)[1], 9.0f);
}

TEST(DirectedEdges, RefusesWeightsThatDoNotFit) {
  const auto broken = [](auto change) {
    GraphParts parts = weighted_parts();
    change(parts);
    return Graph(std::move(parts));
  };
  EXPECT_DATA_ERROR(broken([](GraphParts& p) { p.weights.pop_back(); }), "weights in 1 blocks for edges in 2");
  EXPECT_DATA_ERROR(broken([](GraphParts& p) { p.weights[1].pop_back(); }), "2 weights for 3 edges");
  EXPECT_DATA_ERROR(broken([](GraphParts& p) { p.weights[1][0] = std::numeric_limits<float>::infinity(); }),
                    "edge 3: the weight inf is not finite");
  EXPECT_DATA_ERROR(broken([](GraphParts& p) { p.edges[1][1].src = 4; }), "edge 4: node 4 is outside 0..3");
}

TEST(Graph, FeatureNamesNumberTheColumns) {
  GraphParts parts = weighted_parts();
  parts.features = Features::dense(4, 2, {1, 0, 0, 1, 1, 1, 0, 0});
  parts.feature_names = {"a", "b"};
  Graph graph(parts);
  EXPECT_EQ(graph.feature_names()[1], "b");
  const Graph other = std::move(graph).with_features(Features::dense(4, 1, {1, 2, 3, 4}), {"c"});
  EXPECT_EQ(other.feature_names(), std::vector<std::string>{"c"});
  EXPECT_EQ(other.features().columns(), 1);
  EXPECT_TRUE(other.adjacency().has_weights());
  parts.feature_names.pop_back();
  EXPECT_DATA_ERROR(Graph(std::move(parts)), "1 names were found for 2 columns of features");
}

}  // namespace
}  // namespace graphpae
