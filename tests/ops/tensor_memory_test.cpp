#include "graphpae/ops/tensor_memory.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "graphpae/core/memory.h"
#include "graphpae/core/rng.h"

namespace graphpae {
namespace {

// Tensors of changing sizes keep their content, and memory is not much more than what is alive at one moment.
TEST(TensorMemory, ServesManySizes) {
  keep_tensor_memory();
  constexpr int64_t kAlive = 12;
  const Rng rng(5);
  std::vector<std::pair<torch::Tensor, float>> alive;
  int64_t most = 0;
  const int64_t before = resident_memory();
  for (int64_t round = 0; round < 120; ++round) {
    const auto rows = static_cast<int64_t>(300000 + rng.below(static_cast<uint64_t>(round), 2000000));
    torch::Tensor tensor = torch::empty({rows}, torch::kFloat32);
    EXPECT_EQ(reinterpret_cast<uintptr_t>(tensor.data_ptr()) % 64, 0u);
    tensor.fill_(static_cast<float>(round));
    alive.emplace_back(tensor, static_cast<float>(round));
    if (alive.size() > kAlive) alive.erase(alive.begin() + static_cast<int64_t>(rng.below(round + 1000, kAlive)));
    int64_t bytes = 0;
    for (const auto& [one, value] : alive) bytes += one.numel() * 4;
    most = std::max(most, bytes);
    if (round % 10 != 0) continue;
    for (const auto& [one, value] : alive) {
      EXPECT_EQ(one.min().item<float>(), value);
      EXPECT_EQ(one.max().item<float>(), value);
    }
  }
  // Two megabytes for each that is alive, and what the program itself takes.
  EXPECT_LT(resident_memory() - before, most + (2 * kAlive + 24) * (int64_t{1} << 20));
}

}  // namespace
}  // namespace graphpae
