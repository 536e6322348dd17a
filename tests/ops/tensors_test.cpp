#include "graphpae/ops/tensors.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace graphpae {
namespace {

Graph path_graph(Features features) {
  GraphParts parts;
  parts.num_nodes = 3;
  parts.edges.push_back({Edge{0, 1}, Edge{1, 2}});
  parts.features = std::move(features);
  parts.labels = {1, kUnlabelled, 0};
  return Graph(std::move(parts));
}

TEST(Tensors, ShareTheGraphsMemory) {
  const Graph graph = path_graph(Features::dense(3, 2, {1, 2, 3, 4, 5, 6}));
  const torch::Tensor offsets = row_offsets_tensor(graph.adjacency()),
                      neighbours = neighbours_tensor(graph.adjacency());
  EXPECT_EQ(offsets.data_ptr(), graph.adjacency().offsets().data());
  EXPECT_TRUE(torch::equal(offsets, torch::tensor({0, 1, 3, 4}, torch::kInt64)));
  EXPECT_TRUE(torch::equal(neighbours, torch::tensor({1, 0, 2, 1}, torch::kInt32)));
  const torch::Tensor x = features_tensor(graph.features());
  EXPECT_EQ(x.data_ptr(), graph.features().dense_values().data());
  EXPECT_TRUE(torch::equal(x, torch::tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}})));
  EXPECT_TRUE(torch::equal(labels_tensor(graph), torch::tensor({1, -1, 0}, torch::kInt64)));
}

TEST(Tensors, SparseFeaturesStaySparse) {
  const Graph graph = path_graph(Features::sparse(3, 4, {0, 1, 1, 3}, {2, 0, 3}, {5, 6, 7}));
  const torch::Tensor x = features_tensor(graph.features());
  EXPECT_EQ(x.layout(), torch::kSparseCsr);
  EXPECT_TRUE(
      torch::equal(x.to_dense(), torch::tensor({{0.f, 0.f, 5.f, 0.f}, {0.f, 0.f, 0.f, 0.f}, {6.f, 0.f, 0.f, 7.f}})));
}

TEST(Tensors, TorchUsesTheThreadsItIsGiven) {
  use_threads_in_torch(Threads{2});
  EXPECT_EQ(torch::get_num_threads(), 2);
}

}  // namespace
}  // namespace graphpae
