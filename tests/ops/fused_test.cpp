#include <gtest/gtest.h>
#include <torch/torch.h>

#include <functional>

#include "graphpae/ops/feature_ops.h"
#include "graphpae/train/optimiser.h"
#include "tests/support/fused_checks.h"

namespace graphpae {
namespace {

using test::case_name;
using test::FusedCase;

const FusedCase kCases[] = {
    {"released", [](Settings&) {}},
    {"dropout", [](Settings& s) { s.dropout = 0.6; }},
    {"edge dropout", [](Settings& s) { s.edge_dropout = 0.3, s.layers = 3; }},
    {"replaced", [](Settings& s) { s.replace_ratio = 0.4, s.dropout = 0.3; }},
    {"one layer", [](Settings& s) { s.layers = 1; }},
    {"three layers", [](Settings& s) { s.layers = 3; }},
    {"eight heads", [](Settings& s) { s.heads = 8, s.width = 48; }},
    {"one head", [](Settings& s) { s.heads = 1, s.width = 19; }},
    {"three heads", [](Settings& s) { s.heads = 3, s.width = 21; }},
    {"single pass", [](Settings& s) { s.dual_path = false; }},
    {"no positions", [](Settings& s) { s.use_positions = false; }},
    {"no L_feat", [](Settings& s) { s.reconstruct_features = false; }},
    {"no L_pos", [](Settings& s) { s.reconstruct_positions = false; }},
    {"features not hidden", [](Settings& s) { s.corrupt_features = false; }},
    {"positions not shaken", [](Settings& s) { s.corrupt_positions = false; }},
    {"no density", [](Settings& s) { s.gaussian_density = false; }},
    {"shared deviation", [](Settings& s) { s.shared_deviation = true; }},
    {"squared error", [](Settings& s) { s.feature_loss = FeatureLoss::mse; }},
    {"gamma", [](Settings& s) { s.gamma = 2.7; }},
    {"gelu", [](Settings& s) { s.activation = Activation::gelu; }},
    {"relu decoder", [](Settings& s) { s.decoder_activation = Activation::relu; }},
    {"elu decoder without norm", [](Settings& s) { s.decoder_activation = Activation::elu, s.decoder_norm = false; }},
    {"feature network", [](Settings& s) { s.feature_mlp = true, s.dropout = 0.2; }},
    {"paper attention", [](Settings& s) { s.attention = Attention::paper_softmax; }},
    {"row normalised", [](Settings& s) { s.row_normalize = true; }},
    {"everything masked", [](Settings& s) { s.mask_ratio = 1; }},
    {"one node masked", [](Settings& s) { s.mask_ratio = 0.03; }},
};

class Fused : public testing::TestWithParam<FusedCase> {};

void compare(const Graph& graph, const Settings& settings) {
  std::array<GraphInput, 2> inputs;
  for (const int k : {0, 1}) {
    InputOptions options;
    options.threads = {2};
    options.kernels = k == 0 ? Kernels::reference : Kernels::fused;
    inputs[k] = make_input(graph, settings, options);
  }
  test::compare(inputs, input_shape(graph), settings);
}

TEST_P(Fused, StepsAgreeWithTheReference) {
  Settings settings = test::small_settings();
  settings.width = 32;
  GetParam().change(settings);
  for (const auto& [nodes, features] : {std::pair<int32_t, int64_t>{60, 30}, {41, 3}, {35, 17}}) {
    SCOPED_TRACE(nodes);
    compare(test::small_graph(nodes, features), settings);
  }
  // Dense features.
  const Graph sparse = test::small_graph(50, 9);
  GraphParts parts;
  parts.num_nodes = 50;
  Buffer<Edge> edges;
  for (int32_t i = 0; i < 50; ++i) {
    for (const int32_t j : sparse.adjacency().row(i)) edges.push_back({j, i});
  }
  parts.edges.push_back(std::move(edges));
  Buffer<float> values(450);
  for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(Rng(8).uniform(k) + 0.1);
  parts.features = Features::dense(50, 9, std::move(values));
  compare(Graph(std::move(parts)), settings);
}

INSTANTIATE_TEST_SUITE_P(Cases, Fused, testing::ValuesIn(kCases), case_name);

// Gradients that come with the forward pass follow the gradient of the loss.
TEST(FusedShapes, ScaledFeatureLoss) {
  Buffer<float> values(6 * 4);
  for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(Rng(8).uniform(k));
  const Features features = Features::dense(6, 4, std::move(values));
  std::vector<torch::Tensor> gradients;
  for (const double scale : {1.0, 3.0}) {
    Initialiser init(2);
    const torch::Tensor h = init.normal({2, 5}, 1).requires_grad_(true),
                        w = init.normal({4, 5}, 1).requires_grad_(true), b = init.normal({4}, 1).requires_grad_(true);
    kernels::ErrorWorkspace workspace;
    (scale * ops::feature_error(h, w, b, features, {1, 4}, ops::FeatureErrorKind::scaled_cosine, 2, workspace, {1}))
        .backward();
    for (const torch::Tensor& leaf : {h, w, b}) gradients.push_back(leaf.grad());
  }
  for (size_t k = 0; k < 3; ++k) {
    EXPECT_GT(gradients[k].abs().max().item<double>(), 1e-4);
    EXPECT_LT(test::largest_difference(3 * gradients[k], gradients[k + 3]), 1e-6);
  }
}

// A graph without edges: every node sees only itself.
TEST(FusedShapes, NoEdges) {
  GraphParts parts;
  parts.num_nodes = 12;
  Buffer<float> values(12 * 5);
  for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(Rng(8).uniform(k));
  parts.features = Features::dense(12, 5, std::move(values));
  compare(Graph(std::move(parts)), test::small_settings());
}

}  // namespace
}  // namespace graphpae
