#include "graphpae/core/graph.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graphpae/core/graph_set.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

GraphParts triangle() {
  GraphParts parts;
  parts.num_nodes = 4;
  parts.edges.push_back({Edge{0, 1}, Edge{1, 2}, Edge{2, 0}});
  parts.features = Features::dense(4, 2, {1, 0, 0, 1, 1, 1, 0, 0});
  parts.labels = {0, 1, kUnlabelled, 1};
  parts.splits = {{{0}, {1}, {3}}};
  return parts;
}

TEST(Graph, KeepsWhatItWasGiven) {
  const Graph graph(triangle());
  EXPECT_EQ(graph.num_nodes(), 4);
  EXPECT_EQ(graph.num_classes(), 2);
  EXPECT_EQ(graph.num_edge_rows(), 3);
  EXPECT_EQ(graph.adjacency().num_edges(), 3);
  EXPECT_EQ(graph.node_name(3), "3");
  EXPECT_EQ(graph.features().empty_rows(), 1);
}

TEST(Graph, RefusesPartsThatDoNotFit) {
  const auto broken = [](auto change) {
    GraphParts parts = triangle();
    change(parts);
    return parts;
  };
  EXPECT_DATA_ERROR(Graph(GraphParts{}), "no nodes");
  EXPECT_DATA_ERROR(Graph(broken([](GraphParts& p) { p.labels.pop_back(); })), "3 labels were found for 4 nodes");
  EXPECT_DATA_ERROR(Graph(broken([](GraphParts& p) { p.labels[1] = -2; })), "node 1: label -2");
  EXPECT_DATA_ERROR(Graph(broken([](GraphParts& p) {
                      p.features = Features::dense(3, 1, {1, 2, 3});
                    })),
                    "3 feature rows");
  EXPECT_DATA_ERROR(Graph(broken([](GraphParts& p) {
                      p.edges[0].push_back({0, 4});
                    })),
                    "edge 3: node 4 is outside 0..3");
  EXPECT_DATA_ERROR(Graph(broken([](GraphParts& p) { p.splits[0].test = {4}; })), "split 0: test id 4 is outside 0..3");
  EXPECT_DATA_ERROR(Graph(broken([](GraphParts& p) { p.splits[0].test = {0}; })), "id 0 is in both train and test");
  EXPECT_DATA_ERROR(Graph(broken([](GraphParts& p) { p.splits[0].val = {1, 1}; })), "id 1 is twice in val");
  EXPECT_DATA_ERROR(Graph(broken([](GraphParts& p) { p.class_names = {"only"}; })), "label 1 has no name");
  EXPECT_DATA_ERROR(Graph(broken([](GraphParts& p) { p.node_names.push_back("a"); })), "1 node names");
}

TEST(Features, SparseRowsBecomeCanonical) {
  const Features features = Features::sparse(2, 5, {0, 4, 5}, {3, 1, 3, 0, 2}, {1, 2, 4, 0, 7});
  ASSERT_TRUE(features.is_sparse());
  EXPECT_EQ(std::vector<int64_t>(features.offsets().begin(), features.offsets().end()),
            (std::vector<int64_t>{0, 2, 3}));
  EXPECT_EQ(std::vector<int32_t>(features.indices().begin(), features.indices().end()),
            (std::vector<int32_t>{1, 3, 2}));
  EXPECT_EQ(std::vector<float>(features.values().begin(), features.values().end()), (std::vector<float>{2, 5, 7}));
}

TEST(Features, RefuseBadValues) {
  EXPECT_DATA_ERROR(Features::dense(2, 2, {1, 2, kNan, 4}), "row 1, column 0: the value nan is not finite");
  EXPECT_DATA_ERROR(Features::dense(2, 2, {1, 2, 3}), "3 feature values do not fill 2 x 2");
  EXPECT_DATA_ERROR(Features::sparse(1, 2, {0, 1}, {2}, {1}), "row 0: column 2 is outside 0..1");
  EXPECT_DATA_ERROR(Features::sparse(1, 2, {0, 1}, {-1}, {1}), "row 0: column -1");
  EXPECT_DATA_ERROR(Features::sparse(1, 2, {0, 1}, {0}, {INFINITY}), "is not finite");
  EXPECT_DATA_ERROR(Features::sparse(1, 2, {0, 2}, {0, 0}, {3e38f, 3e38f}), "overflows");
  EXPECT_DATA_ERROR(Features::sparse(2, 2, {0, 2, 1}, {0}, {1}), "offsets go from 0 to 2");
  EXPECT_DATA_ERROR(Features::sparse(2, 2, {0, 1}, {0}, {1}), "expected 3 starting at 0");
}

TEST(Features, CompactChoosesTheSmallerForm) {
  EXPECT_TRUE(Features::compact(2, 4, {1, 0, 0, 0, 0, 0, 0, 0}).is_sparse());
  EXPECT_FALSE(Features::compact(2, 2, {1, 0, 0, 0}).is_sparse());
  EXPECT_EQ(Features::compact(2, 4, {0, 0, 3, 0, 0, 0, 0, 0}).sparse_row(0).columns[0], 2);
}

GraphSetParts two_molecules() {
  GraphSetParts parts;
  parts.num_graphs = 2;
  parts.task_names = {"t"};
  parts.targets = {1, kNan};
  parts.node_offsets = {0, 3, 4};
  parts.edge_offsets = {0, 1, 1};
  parts.edges = {{0, 2}};
  parts.node_codes = {1, {5, 6, 7, 8}};
  parts.edge_codes = {1, {1}};
  return parts;
}

TEST(GraphSet, KeepsWhatItWasGiven) {
  const GraphSet set(two_molecules());
  EXPECT_EQ(set.num_nodes(), 4);
  EXPECT_EQ(set.num_edges(), 1);
  EXPECT_EQ(count_fragments(set, 0), 2);
  EXPECT_EQ(count_fragments(set, 1), 1);
}

TEST(GraphSet, RefusesPartsThatDoNotFit) {
  const auto broken = [](auto change) {
    GraphSetParts parts = two_molecules();
    change(parts);
    return parts;
  };
  EXPECT_DATA_ERROR(GraphSet(GraphSetParts{}), "no graphs");
  EXPECT_DATA_ERROR(GraphSet(broken([](GraphSetParts& p) { p.edges[0].dst = 3; })),
                    "graph 0: edge 0-3 is outside its 3 nodes");
  EXPECT_DATA_ERROR(GraphSet(broken([](GraphSetParts& p) { p.targets.pop_back(); })), "do not fill 2 graphs x 1 tasks");
  EXPECT_DATA_ERROR(GraphSet(broken([](GraphSetParts& p) { p.targets[0] = INFINITY; })), "graph 0, task 0");
  EXPECT_DATA_ERROR(GraphSet(broken([](GraphSetParts& p) { p.node_codes.values.pop_back(); })),
                    "node codes do not fill");
  EXPECT_DATA_ERROR(GraphSet(broken([](GraphSetParts& p) { p.edge_offsets = {0, 2, 1}; })), "edge");
  EXPECT_DATA_ERROR(GraphSet(broken([](GraphSetParts& p) { p.splits = {{{2}, {}, {}}}; })), "train id 2");
}

}  // namespace
}  // namespace graphpae
