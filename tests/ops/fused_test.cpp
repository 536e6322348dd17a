// Fused operations against their plain twins: whole steps of the model, losses and all gradients.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <functional>

#include "graphpae/model/graph_pae.h"
#include "graphpae/ops/feature_ops.h"
#include "graphpae/train/optimiser.h"
#include "tests/support/small_graph.h"

namespace graphpae {
namespace {

struct Case {
  const char* name;
  std::function<void(Settings&)> change;
};
const Case kCases[] = {
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

void PrintTo(const Case& test_case, std::ostream* out) { *out << test_case.name; }

class Fused : public testing::TestWithParam<Case> {};

void compare(const Graph& graph, const Settings& settings) {
  Losses losses[2];
  std::shared_ptr<GraphPae> models[2];
  torch::Tensor embeddings[2];
  for (const int k : {0, 1}) {
    InputOptions options;
    options.threads = {2};
    options.kernels = k == 0 ? Kernels::reference : Kernels::fused;
    const GraphInput input = make_input(graph, settings, options);
    models[k] = std::make_shared<GraphPae>(settings, input_shape(graph));
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
    return test::largest_difference(fused, plain) / scale;
  };
  ASSERT_EQ(losses[0].feature.defined(), losses[1].feature.defined());
  ASSERT_EQ(losses[0].position.defined(), losses[1].position.defined());
  if (losses[0].feature.defined()) {
    EXPECT_LT(near(losses[1].feature, losses[0].feature, 0), 1e-5);
  }
  if (losses[0].position.defined()) {
    EXPECT_LT(near(losses[1].position, losses[0].position, 1e-12), 1e-5);
  }
  EXPECT_LT(near(embeddings[1], embeddings[0], 0), 1e-5);
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
    EXPECT_LT(near(found, expected, 1e-3 * largest), 1e-5) << item.key();
  }
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

INSTANTIATE_TEST_SUITE_P(Cases, Fused, testing::ValuesIn(kCases), [](const auto& test_info) {
  std::string name;
  for (const char c : std::string(test_info.param.name)) {
    if (std::isalnum(static_cast<unsigned char>(c))) name += c;
  }
  return name;
});

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
