#include "graphpae/ops/tensors.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace graphpae {
namespace {

TEST(Tensors, DenseFeaturesShareTheirMemory) {
  const Features features = Features::dense(3, 2, {1, 2, 3, 4, 5, 6});
  const torch::Tensor x = features_tensor(features);
  EXPECT_EQ(x.data_ptr(), features.dense_values().data());
  EXPECT_TRUE(torch::equal(x, torch::tensor({{1.f, 2.f}, {3.f, 4.f}, {5.f, 6.f}})));
}

TEST(Tensors, SparseFeaturesStaySparse) {
  const Features features = Features::sparse(3, 4, {0, 1, 1, 3}, {2, 0, 3}, {5, 6, 7});
  const torch::Tensor x = features_tensor(features);
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
