#include <gtest/gtest.h>
#include <torch/torch.h>

#include <numeric>

#include "graphpae/model/inputs.h"
#include "graphpae/ops/gated_ops.h"
#include "tests/support/fused_checks.h"
#include "tests/support/small_graph.h"
#include "tests/support/small_molecules.h"

namespace graphpae {
namespace {

using test::case_name;
using test::FusedCase;

const FusedCase kMoleculeCases[] = {
    {"released", [](Settings&) {}},
    {"dropout", [](Settings& s) { s.dropout = 0.5; }},
    {"edge dropout", [](Settings& s) { s.edge_dropout = 0.4; }},
    {"both dropouts", [](Settings& s) { s.dropout = 0.3, s.edge_dropout = 0.6, s.layers = 3; }},
    {"one layer", [](Settings& s) { s.layers = 1, s.dropout = 0.2, s.edge_dropout = 0.3; }},
    {"five layers", [](Settings& s) { s.layers = 5; }},
    {"odd width", [](Settings& s) { s.width = 19; }},
    {"single pass", [](Settings& s) { s.dual_path = false, s.edge_dropout = 0.2; }},
    {"no positions", [](Settings& s) { s.use_positions = false, s.dropout = 0.2; }},
    {"no L_feat", [](Settings& s) { s.reconstruct_features = false; }},
    {"no L_pos", [](Settings& s) { s.reconstruct_positions = false; }},
    {"atoms not hidden", [](Settings& s) { s.corrupt_features = false; }},
    {"positions not shaken", [](Settings& s) { s.corrupt_positions = false; }},
    {"shared deviation", [](Settings& s) { s.shared_deviation = true; }},
    {"squared error", [](Settings& s) { s.feature_loss = FeatureLoss::mse; }},
    {"gelu", [](Settings& s) { s.activation = Activation::gelu, s.edge_dropout = 0.3; }},
    {"relu decoder", [](Settings& s) { s.decoder_activation = Activation::relu; }},
    {"elu decoder without norm", [](Settings& s) { s.decoder_activation = Activation::elu, s.decoder_norm = false; }},
    {"everything masked", [](Settings& s) { s.mask_ratio = 1; }},
    {"few masked", [](Settings& s) { s.mask_ratio = 0.1; }},
};

class FusedMolecules : public testing::TestWithParam<FusedCase> {};

std::array<GraphInput, 2> inputs_for(const GraphSet& set, const Settings& settings, const std::vector<int32_t>& batch) {
  std::array<GraphInput, 2> inputs;
  for (const int k : {0, 1}) {
    InputOptions options;
    options.threads = {2};
    options.kernels = k == 0 ? Kernels::reference : Kernels::fused;
    inputs[k] = prepare(set, settings, options)->batch(batch);
  }
  return inputs;
}

TEST_P(FusedMolecules, StepsAgreeWithTheReference) {
  Settings settings = test::small_molecule_settings();
  GetParam().change(settings);
  std::vector<int32_t> all(40);
  std::iota(all.begin(), all.end(), 0);
  const GraphSet random = test::random_molecules(40);
  test::compare(inputs_for(random, settings, all), input_shape(random), settings, 3e-5);
  // One atom, several fragments, no bonds.
  const GraphSet odd = test::odd_set();
  test::compare(inputs_for(odd, settings, {5, 0, 1, 2, 3}), input_shape(odd), settings, 3e-5);
}

// Gradients of two passes made one after the other are those of both together, bit by bit.
TEST_P(FusedMolecules, PassesApartGiveTheSameGradients) {
  Settings settings = test::small_molecule_settings();
  GetParam().change(settings);
  std::vector<int32_t> all(40);
  std::iota(all.begin(), all.end(), 0);
  const GraphSet set = test::random_molecules(40);
  for (const GraphInput& input : inputs_for(set, settings, all)) {
    const int64_t k = settings.use_positions ? settings.eigenvectors : 0;
    const Corruption corruption = draw_corruption(input.num_nodes(), k, settings, Rng(4));
    GraphPae together(settings, input_shape(set)), apart(settings, input_shape(set));
    const Losses a = together.losses(input, corruption, 7), b = apart.learn(input, corruption, 7);
    a.total.backward();
    EXPECT_TRUE(test::same_bits(a.total.detach(), b.total.detach()));
    for (const auto& item : together.named_parameters()) {
      const torch::Tensor expected = item.value().grad(), found = apart.named_parameters()[item.key()].grad();
      ASSERT_EQ(expected.defined(), found.defined()) << item.key();
      if (!expected.defined()) continue;
      EXPECT_TRUE(test::same_bits(expected, found)) << item.key();
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, FusedMolecules, testing::ValuesIn(kMoleculeCases), case_name);

// Running statistics are those of the reference, also where the last layer's nodes of a pass are read by nobody.
TEST(FusedMolecules, RunningStatistics) {
  Settings settings = test::small_molecule_settings();
  settings.edge_dropout = 0.3;
  const GraphSet set = test::random_molecules(30);
  std::vector<int32_t> all(30);
  std::iota(all.begin(), all.end(), 0);
  const auto inputs = inputs_for(set, settings, all);
  std::shared_ptr<GraphPae> models[2];
  for (const int k : {0, 1}) {
    models[k] = std::make_shared<GraphPae>(settings, input_shape(set));
    models[k]->train();
    const Corruption corruption = draw_corruption(inputs[k].num_nodes(), inputs[k].positions.size(1), settings, Rng(4));
    for (int step = 0; step < 3; ++step) models[k]->losses(inputs[k], corruption, static_cast<uint64_t>(step));
  }
  const auto plain = models[0]->named_buffers(), fused = models[1]->named_buffers();
  ASSERT_EQ(plain.size(), 6u);  // mean and variance of two node norms and one edge norm
  for (const auto& item : plain) {
    EXPECT_LT(test::largest_difference(item.value(), fused[item.key()]), 1e-6) << item.key();
    EXPECT_GT(test::largest_difference(item.value(), torch::full_like(item.value(), item.value()[0].item<float>())),
              1e-3)
        << "has moved: " << item.key();
  }
}

// Rows that are not kept are made again, bit by bit.
TEST(FusedMolecules, NormedRowsMadeAgain) {
  const torch::Tensor x = torch::linspace(-3, 5, 70 * 19).view({70, 19}).sin().contiguous();
  const ops::NormParameters parameters{torch::linspace(0.5, 2, 19), torch::linspace(-1, 1, 19), torch::zeros({19}),
                                       torch::ones({19})};
  ops::Remake again;
  const torch::Tensor y = ops::batch_norm(x, parameters, true, true, {0.3f, 11}, {2}, &again);
  EXPECT_GT(y.max().item<float>(), 0.5f);
  EXPECT_TRUE(test::same_bits(y, again()));
}

// No bonds at all, and one atom alone. Three rows alone make norms that magnify rounding.
TEST(FusedMolecules, AlmostNothing) {
  Settings settings = test::small_molecule_settings();
  settings.mask_ratio = 1;
  const GraphSet odd = test::odd_set();
  test::compare(inputs_for(odd, settings, {3, 1}), input_shape(odd), settings, 3e-4);
}

}  // namespace
}  // namespace graphpae
