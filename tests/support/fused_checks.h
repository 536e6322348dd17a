// Fused operations against their plain twins: a step of the model, losses and all gradients.
#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <array>
#include <functional>
#include <string>

#include "graphpae/model/graph_pae.h"
#include "tests/support/small_graph.h"

namespace graphpae::test {

struct FusedCase {
  const char* name;
  std::function<void(Settings&)> change;
};
inline void PrintTo(const FusedCase& test_case, std::ostream* out) { *out << test_case.name; }

// The name of a test from the name of its case.
inline std::string case_name(const testing::TestParamInfo<FusedCase>& info) {
  std::string name;
  for (const char c : std::string(info.param.name)) {
    if (std::isalnum(static_cast<unsigned char>(c))) name += c;
  }
  return name;
}

// inputs: for plain operations, for fused ones.
inline void compare(const std::array<GraphInput, 2>& inputs, const InputShape& shape, const Settings& settings,
                    double tolerance = 1e-5) {
  Losses losses[2];
  std::shared_ptr<GraphPae> models[2];
  torch::Tensor embeddings[2];
  for (const int k : {0, 1}) {
    const GraphInput& input = inputs[k];
    models[k] = std::make_shared<GraphPae>(settings, shape);
    {
      const torch::NoGradGuard no_grad;
      for (const auto& item : models[k]->named_parameters()) {
        if (item.key() == "encoder.mask_token") item.value().copy_(Initialiser(5).normal(item.value().sizes(), 0.3));
      }
    }
    const Corruption corruption =
        draw_corruption(input.num_nodes(), settings.use_positions ? input.positions.size(1) : 0, settings, Rng(9));
    models[k]->train();
    losses[k] = models[k]->losses(input, corruption, 23);
    losses[k].total.backward();
    models[k]->eval();
    embeddings[k] = models[k]->embed(input);
  }
  const auto near = [](const torch::Tensor& fused, const torch::Tensor& plain, double floor) {
    const double scale = std::max(plain.abs().max().item<double>(), floor);
    return largest_difference(fused, plain) / scale;
  };
  ASSERT_EQ(losses[0].feature.defined(), losses[1].feature.defined());
  ASSERT_EQ(losses[0].position.defined(), losses[1].position.defined());
  if (losses[0].feature.defined()) {
    EXPECT_LT(near(losses[1].feature, losses[0].feature, 0), tolerance);
  }
  if (losses[0].position.defined()) {
    EXPECT_LT(near(losses[1].position, losses[0].position, 1e-12), tolerance);
  }
  EXPECT_LT(near(embeddings[1], embeddings[0], 0), tolerance);
  EXPECT_GT(embeddings[0].abs().max().item<double>(), 1e-3);

  const auto plain = models[0]->named_parameters(), fused = models[1]->named_parameters();
  double largest = 0;
  for (const auto& item : plain) {
    if (item.value().grad().defined()) largest = std::max(largest, item.value().grad().abs().max().item<double>());
  }
  EXPECT_GT(largest, 1e-4);
  for (const auto& item : plain) {
    const torch::Tensor expected = item.value().grad(), found = fused[item.key()].grad();
    // What fused operations leave out because nothing depends on it has no gradient, or zero.
    if (!expected.defined() || expected.abs().max().item<double>() == 0) {
      if (found.defined()) {
        EXPECT_EQ(found.abs().max().item<double>(), 0) << item.key();
      }
      continue;
    }
    ASSERT_TRUE(found.defined()) << item.key();
    EXPECT_LT(near(found, expected, 1e-3 * largest), tolerance) << item.key();
  }
}

}  // namespace graphpae::test
