#include "graphpae/core/edge_index.h"

#include <gtest/gtest.h>

#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

template <class T>
std::vector<T> list(std::span<const T> values) {
  return {values.begin(), values.end()};
}

TEST(EdgeIndex, PathWithSelfLoopsAndIsolatedNode) {
  const std::vector<Edge> edges = {{0, 1}, {2, 1}};
  const EdgeIndex index(Adjacency::from_edges(edges, 4), true);
  EXPECT_EQ(list(index.offsets()), (std::vector<int64_t>{0, 2, 5, 7, 8}));
  EXPECT_EQ(list(index.sources()), (std::vector<int32_t>{0, 1, 0, 1, 2, 1, 2, 3}));
  EXPECT_EQ(list(index.targets()), (std::vector<int32_t>{0, 0, 1, 1, 1, 2, 2, 3}));
  // By source: 0 -> 0, 1; 1 -> 0, 1, 2; 2 -> 1, 2; 3 -> 3.
  EXPECT_EQ(list(index.out_offsets()), (std::vector<int64_t>{0, 2, 5, 7, 8}));
  EXPECT_EQ(list(index.out_edges()), (std::vector<int32_t>{0, 2, 1, 3, 5, 4, 6, 7}));
  ASSERT_EQ(index.num_pairs(), 2);
  EXPECT_EQ(list(index.pair_forward()), (std::vector<int32_t>{2, 5}));   // 0 -> 1, 1 -> 2
  EXPECT_EQ(list(index.pair_backward()), (std::vector<int32_t>{1, 4}));  // 1 -> 0, 2 -> 1
  EXPECT_EQ(list(index.pair_of_edge()), (std::vector<int32_t>{2, 0, 0, 2, 1, 1, 2, 2}));
}

TEST(EdgeIndex, SelfLoopsOfTheGraphAreLeftOut) {
  const std::vector<Edge> edges = {{0, 1}, {1, 1}};
  EdgeOptions keep;
  keep.self_loops = SelfLoops::keep;
  const Adjacency adjacency = Adjacency::from_edges(edges, 2, keep);
  EXPECT_EQ(EdgeIndex(adjacency, false).num_edges(), 2);
  EXPECT_EQ(EdgeIndex(adjacency, true).num_edges(), 4);
}

TEST(EdgeIndex, ListsInAnyOrder) {
  const std::vector<int32_t> sources = {2, 1, 0, 1}, targets = {1, 2, 1, 0};
  const EdgeIndex index = EdgeIndex::from_list(sources, targets, 3);
  EXPECT_EQ(list(index.sources()), (std::vector<int32_t>{1, 2, 0, 1}));
  EXPECT_EQ(index.num_pairs(), 2);
  for (int64_t p = 0; p < 2; ++p) {
    EXPECT_EQ(index.sources()[index.pair_forward()[p]], index.targets()[index.pair_backward()[p]]);
    EXPECT_LT(index.sources()[index.pair_forward()[p]], index.targets()[index.pair_forward()[p]]);
  }
  EXPECT_EQ(EdgeIndex::from_list({}, {}, 0).num_edges(), 0);
}

TEST(EdgeIndex, SamplesMayLackADirectionAndRepeat) {
  // 1 -> 0, 2 -> 0 twice; 0 -> 1, 2 -> 1; self loops of 0 and 1.
  const std::vector<int64_t> offsets = {0, 4, 7};
  const std::vector<int32_t> sources = {0, 1, 2, 2, 1, 0, 2};
  const EdgeIndex index = EdgeIndex::from_sample(offsets, sources, 3);
  EXPECT_EQ(index.num_nodes(), 3);
  EXPECT_EQ(list(index.offsets()), (std::vector<int64_t>{0, 4, 7, 7}));
  EXPECT_EQ(list(index.targets()), (std::vector<int32_t>{0, 0, 0, 0, 1, 1, 1}));
  EXPECT_EQ(list(index.pair_forward()), (std::vector<int32_t>{5, 2, 3, 6}));
  EXPECT_EQ(list(index.pair_backward()), (std::vector<int32_t>{1, 2, 3, 6}));
  EXPECT_EQ(list(index.pair_of_edge()), (std::vector<int32_t>{4, 0, 1, 2, 4, 0, 3}));
  EXPECT_EQ(list(index.out_edges()), (std::vector<int32_t>{0, 5, 1, 4, 2, 3, 6}));
}

TEST(EdgeIndex, BadListsAreRefused) {
  const auto make = [](std::vector<int32_t> s, std::vector<int32_t> t) { EdgeIndex::from_list(s, t, 3); };
  EXPECT_DATA_ERROR(make({0}, {3}), "edge 0: node 3 is outside 0..2");
  EXPECT_DATA_ERROR(make({0}, {1}), "lack");
  EXPECT_DATA_ERROR(make({0, 1, 0, 1}, {1, 0, 1, 0}), "repeated");
  EXPECT_DATA_ERROR(make({0, 2}, {1, 1}), "lack");
}

}  // namespace
}  // namespace graphpae
