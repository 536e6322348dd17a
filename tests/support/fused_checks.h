// Fused operations against their plain twins: a step of the model, losses and all gradients.
#pragma once

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <string>

#include "graphpae/methods/graph_pae/graph_pae.h"
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

// What one step of both differs by, relative to the size of each quantity.
struct StepDifference {
  double losses = 0, embeddings = 0, gradients = 0;
  std::string parameter;  // of the largest difference of gradients
  double largest() const { return std::max({losses, embeddings, gradients}); }
};

// inputs: for plain operations, which compute in float64, and for fused ones. `draw` chooses masks, noise and dropout.
inline StepDifference step_difference(std::array<GraphInput, 2> inputs, const InputShape& shape,
                                      const Settings& settings, uint64_t draw) {
  StepDifference difference;
  Losses losses[2];
  std::shared_ptr<GraphPae> models[2];
  torch::Tensor embeddings[2];
  if (shape.atom_codes.empty()) inputs[0].features = NodeFeatures(inputs[0].features.dense().to(torch::kFloat64));
  if (settings.use_positions)
    inputs[0].distances = edge_distances(inputs[0].graph, inputs[0].positions, torch::kFloat64, inputs[0].threads);
  for (const int k : {0, 1}) {
    const GraphInput& input = inputs[k];
    models[k] = std::make_shared<GraphPae>(settings, shape);
    if (k == 0) models[k]->to(torch::kFloat64);
    {
      const torch::NoGradGuard no_grad;
      for (const auto& item : models[k]->named_parameters()) {
        if (item.key() == "encoder.mask_token") item.value().copy_(Initialiser(5).normal(item.value().sizes(), 0.3));
      }
    }
    const Corruption corruption =
        draw_corruption(input.num_nodes(), settings.use_positions ? input.positions.size(1) : 0, settings, Rng(draw));
    models[k]->train();
    losses[k] = models[k]->losses(input, corruption, 14 + draw);
    losses[k].total.backward();
    models[k]->eval();
    embeddings[k] = models[k]->model()->embed(input);
  }
  const auto relative = [](const torch::Tensor& fused, const torch::Tensor& plain, double floor) {
    const double scale = std::max(plain.abs().max().item<double>(), floor);
    return largest_difference(fused, plain) / scale;
  };
  EXPECT_EQ(losses[0].feature.defined(), losses[1].feature.defined());
  EXPECT_EQ(losses[0].position.defined(), losses[1].position.defined());
  if (losses[0].feature.defined()) difference.losses = relative(losses[1].feature, losses[0].feature, 0);
  if (losses[0].position.defined())
    difference.losses = std::max(difference.losses, relative(losses[1].position, losses[0].position, 1e-12));
  difference.embeddings = relative(embeddings[1], embeddings[0], 0);
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
    EXPECT_TRUE(found.defined()) << item.key();
    const double now = found.defined() ? relative(found, expected, 1e-3 * largest) : HUGE_VAL;
    if (now > difference.gradients) {
      difference.gradients = now;
      difference.parameter = item.key();
    }
  }
  return difference;
}

// Two of three draws agree to the tolerance, and none is far off: in one of them an element may be so near the kink of
// an activation that float32 has it on the other side.
inline void compare(const std::array<GraphInput, 2>& inputs, const InputShape& shape, const Settings& settings,
                    double tolerance = 1e-5) {
  constexpr double kBesideAKink = 0.05;
  int agreeing = 0;
  std::string seen;
  for (const uint64_t draw : {9, 10, 11}) {
    const StepDifference d = step_difference(inputs, shape, settings, draw);
    agreeing += d.largest() < tolerance;
    EXPECT_LT(d.largest(), kBesideAKink) << d.parameter;
    seen += "losses " + std::to_string(d.losses) + ", embeddings " + std::to_string(d.embeddings) + ", gradients " +
            std::to_string(d.gradients) + " (" + d.parameter + ")\n";
  }
  EXPECT_GE(agreeing, 2) << seen;
}

}  // namespace graphpae::test
