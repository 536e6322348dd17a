#include "graphpae/methods/graph_pae/graph_pae.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <functional>

#include "graphpae/core/error.h"
#include "graphpae/model/gat_layer.h"
#include "tests/support/expect_error.h"
#include "tests/support/small_graph.h"

namespace graphpae {
namespace {

using test::in_float64;
using test::largest_difference;
using test::small_graph;
using test::small_settings;

std::shared_ptr<GraphPae> model_in_float64(const Settings& settings, const Graph& graph) {
  auto model = std::make_shared<GraphPae>(settings, input_shape(graph));
  const torch::NoGradGuard no_grad;
  // The token starts at zero, where several gradients vanish.
  for (const auto& item : model->named_parameters()) {
    if (item.key() == "encoder.mask_token") item.value().fill_(0.3);
  }
  model->to(torch::kFloat64);
  return model;
}

Corruption corruption_for(const GraphInput& input, const Settings& settings, uint64_t seed = 5) {
  return draw_corruption(input.num_nodes(), input.positions.defined() ? input.positions.size(1) : 0, settings,
                         Rng(seed));
}

// The GAT layer written once more as loops over single numbers.
TEST(GatLayer, AgreesWithLoops) {
  const Graph graph = small_graph(12, 6);
  Settings settings = small_settings();
  const GraphInput input = in_float64(graph, settings);
  Initialiser init(7);
  GatLayer layer(settings, 6, init);
  layer->to(torch::kFloat64);
  const torch::Tensor x = init.normal({12, 6}, 1).to(torch::kFloat64);
  const torch::Tensor p = init.normal({input.graph.num_edges(), 4}, 1).to(torch::kFloat64);
  const Encoding out = layer(input, input.graph, torch::mm(x, layer->weight), p, kernels::Dropout());

  const auto w = layer->weight.accessor<double, 2>(), as = layer->attention_source.accessor<double, 2>(),
             at = layer->attention_target.accessor<double, 2>(), px = x.accessor<double, 2>(),
             pp = p.accessor<double, 2>();
  const EdgeIndex& edges = *input.graph.index;
  for (int64_t i = 0; i < 12; ++i) {
    for (int64_t h = 0; h < 4; ++h) {
      const auto z = [&](int64_t node, int64_t c) {
        double sum = 0;
        for (int64_t f = 0; f < 6; ++f) sum += px[node][f] * w[f][h * 4 + c];
        return sum;
      };
      double total = 0;
      std::vector<double> sums(4, 0.0);
      for (int64_t e = edges.offsets()[i]; e < edges.offsets()[i + 1]; ++e) {
        const int64_t j = edges.sources()[e];
        double logit = pp[e][h];
        for (int64_t c = 0; c < 4; ++c) logit += as[h][c] * z(j, c) + at[h][c] * z(i, c);
        EXPECT_NEAR(out.positions[e][h].item<double>(), logit, 1e-12);
        const double weight = std::exp(logit > 0 ? logit : 0.2 * logit);
        total += weight;
        for (int64_t c = 0; c < 4; ++c) sums[c] += weight * z(j, c);
      }
      for (int64_t c = 0; c < 4; ++c) EXPECT_NEAR(out.nodes[i][h * 4 + c].item<double>(), sums[c] / total, 1e-12);
    }
  }
}

TEST(GraphPae, PermutingNodesPermutesEmbeddingsAndKeepsLosses) {
  const int32_t n = 25;
  const Graph graph = small_graph(n, 9);
  const Settings settings = small_settings();
  const GraphInput input = in_float64(graph, settings);
  const std::vector<int32_t> to = Rng(11).permutation(n);  // node i becomes to[i]

  GraphInput permuted = input;
  std::vector<int32_t> sources, targets;
  for (const int32_t j : input.graph.index->sources()) sources.push_back(to[j]);
  for (const int32_t i : input.graph.index->targets()) targets.push_back(to[i]);
  permuted.graph = MessageGraph(EdgeIndex::from_list(sources, targets, n));
  const torch::Tensor order = torch::tensor(to, torch::kInt64).argsort();  // row `to[i]` comes from row i
  permuted.features = NodeFeatures(input.features.dense().index_select(0, order));
  permuted.positions = input.positions.index_select(0, order);
  permuted.distances = edge_distances(permuted.graph, permuted.positions, torch::kFloat64, {});

  const auto model = model_in_float64(settings, graph);
  model->eval();
  EXPECT_LT(largest_difference(model->model()->embed(permuted), model->model()->embed(input).index_select(0, order)),
            1e-12);

  const Corruption corruption = corruption_for(input, settings);
  std::vector<int32_t> masked;
  for (const int32_t node : corruption.masked) masked.push_back(to[node]);
  const Losses before = model->losses(input, corruption),
               after = model->losses(permuted, make_corruption(n, masked, corruption.offsets));
  EXPECT_GT(before.feature.item<double>(), 0.01);
  EXPECT_GT(before.position.item<double>(), 1e-5);
  EXPECT_NEAR(before.feature.item<double>(), after.feature.item<double>(), 1e-12);
  EXPECT_NEAR(before.position.item<double>(), after.position.item<double>(), 1e-12);
}

TEST(GraphPae, SignsAndRotationsOfEigenvectorsDoNotMatter) {
  const Graph graph = small_graph(20, 5);
  const Settings settings = small_settings();
  const GraphInput input = in_float64(graph, settings);
  GraphInput turned = input;
  // Any rotation keeps distances; a sign flip is one, a rotation inside an eigenspace too.
  torch::Tensor rotation = torch::eye(5, torch::kFloat64);
  rotation[0][0] = -1.0;
  rotation[1][1] = std::cos(0.7), rotation[1][2] = -std::sin(0.7), rotation[2][1] = std::sin(0.7),
  rotation[2][2] = std::cos(0.7);
  turned.positions = input.positions.mm(rotation);
  EXPECT_GT(largest_difference(turned.positions, input.positions), 0.05);
  turned.distances = edge_distances(turned.graph, turned.positions, torch::kFloat64, {});
  const auto model = model_in_float64(settings, graph);
  model->eval();
  EXPECT_LT(largest_difference(model->model()->embed(turned), model->model()->embed(input)), 1e-12);
}

struct Variant {
  const char* name;
  std::function<void(Settings&)> change;
  bool feature = true, position = true;  // which losses there are
};
const Variant kVariants[] = {
    {"released", [](Settings&) {}},
    {"a", [](Settings& s) { s.dual_path = s.reconstruct_positions = false; }, true, false},
    {"b", [](Settings& s) { s.dual_path = false; }},
    {"c", [](Settings& s) { s.dual_path = s.corrupt_positions = s.reconstruct_positions = false; }, true, false},
    {"no L_pos", [](Settings& s) { s.reconstruct_positions = false; }, true, false},
    {"no L_feat", [](Settings& s) { s.reconstruct_features = false; }, false, true},
    {"no positions", [](Settings& s) { s.use_positions = false; }, true, false},
    {"features not hidden", [](Settings& s) { s.corrupt_features = false; }},
    {"positions not shaken", [](Settings& s) { s.corrupt_positions = false; }},
    {"no density", [](Settings& s) { s.gaussian_density = false; }},
    {"shared deviation", [](Settings& s) { s.shared_deviation = true; }},
    {"paper attention", [](Settings& s) { s.attention = Attention::paper; }},
    {"paper attention, softmax", [](Settings& s) { s.attention = Attention::paper_softmax; }},
    {"feature network", [](Settings& s) { s.feature_mlp = true; }},
    {"relu decoders", [](Settings& s) { s.decoder_activation = Activation::relu, s.decoder_norm = false; }},
    {"gelu encoder", [](Settings& s) { s.activation = Activation::gelu; }},
    {"squared error", [](Settings& s) { s.feature_loss = FeatureLoss::mse; }},
    {"replaced features", [](Settings& s) { s.replace_ratio = 0.5; }},
    {"one layer", [](Settings& s) { s.layers = 1; }},
    {"three layers, one head", [](Settings& s) { s.layers = 3, s.heads = 1; }},
    {"dropouts", [](Settings& s) { s.dropout = 0.3, s.edge_dropout = 0.2; }},
};

// Along a random direction the loss changes as its gradients say: float64, central differences.
TEST(GraphPae, GradientsAgreeWithDifferences) {
  const Graph graph = small_graph(18, 7);
  for (const Variant& variant : kVariants) {
    SCOPED_TRACE(variant.name);
    Settings settings = small_settings();
    variant.change(settings);
    const GraphInput input = in_float64(graph, settings);
    const auto model = model_in_float64(settings, graph);
    const Corruption corruption = corruption_for(input, settings);
    const Losses losses = model->losses(input, corruption, 17);
    EXPECT_EQ(losses.feature.defined(), variant.feature);
    EXPECT_EQ(losses.position.defined(), variant.position);
    losses.total.backward();
    uint64_t draw = 100;
    for (const auto& item : model->named_parameters()) {
      torch::Tensor parameter = item.value();
      const torch::NoGradGuard no_grad;
      const torch::Tensor direction = Initialiser(draw++).normal(parameter.sizes(), 1).to(torch::kFloat64);
      const double step = 1e-6,
                   slope = parameter.grad().defined() ? (direction * parameter.grad()).sum().item<double>() : 0;
      parameter.add_(direction, step);
      const double above = model->losses(input, corruption, 17).total.item<double>();
      parameter.add_(direction, -2 * step);
      const double below = model->losses(input, corruption, 17).total.item<double>();
      parameter.add_(direction, step);
      EXPECT_NEAR((above - below) / (2 * step), slope, 1e-7 + 2e-5 * std::abs(slope)) << item.key();
    }
  }
}

// Every variant is another function: a setting that does nothing would not be noticed above.
TEST(GraphPae, VariantsDiffer) {
  const Graph graph = small_graph(18, 7);
  std::vector<double> seen;
  for (const Variant& variant : kVariants) {
    Settings settings = small_settings();
    variant.change(settings);
    const GraphInput input = in_float64(graph, settings);
    const double loss =
        model_in_float64(settings, graph)->losses(input, corruption_for(input, settings), 17).total.item<double>();
    // Without L_pos the pass is that of row c.
    if (variant.name != std::string("no L_pos")) {
      for (const double other : seen) EXPECT_GT(std::abs(loss - other), 1e-9) << variant.name;
    }
    seen.push_back(loss);
  }
}

// With nothing corrupted both passes see the same; dropout is drawn anew for each.
TEST(GraphPae, PassesDropDifferentElements) {
  const Graph graph = small_graph(18, 7);
  for (const double probability : {0.0, 0.5}) {
    Settings settings = small_settings();
    settings.corrupt_features = settings.corrupt_positions = false;
    settings.dropout = probability;
    const GraphInput input = in_float64(graph, settings);
    const auto model = model_in_float64(settings, graph);
    const auto passes = model->encode(input, corruption_for(input, settings), 17);
    const double difference = largest_difference(passes.feature_pass.nodes, passes.position_pass.nodes);
    EXPECT_EQ(difference > 1e-6, probability > 0) << difference;
  }
}

TEST(GraphPae, WithoutPositionsThereIsNothingOfThem) {
  Settings settings = small_settings();
  settings.use_positions = false;
  const GraphPae model(settings, input_shape(small_graph(10, 4)));
  for (const auto& item : model.named_parameters()) {
    EXPECT_EQ(item.key().find("distance"), std::string::npos);
    EXPECT_EQ(item.key().find("position"), std::string::npos);
  }
}

TEST(GraphPae, SettingsThatContradictEachOtherAreRefused) {
  const auto make = [](const std::function<void(Settings&)>& change) {
    Settings settings = small_settings();
    change(settings);
    InputShape shape;
    shape.features = 3;
    GraphPae model(settings, shape);
  };
  EXPECT_USAGE_ERROR(make([](Settings& s) { s.heads = 3; }), "width 16 is not a multiple of heads 3");
  EXPECT_USAGE_ERROR(make([](Settings& s) { s.reconstruct_features = s.reconstruct_positions = false; }),
                     "nothing to learn");
  EXPECT_USAGE_ERROR(make([](Settings& s) { s.eigenvectors = 0; }), "use_positions=no");
  EXPECT_USAGE_ERROR(make([](Settings& s) { s.use_positions = s.reconstruct_features = false; }), "nothing to learn");
  EXPECT_USAGE_ERROR(make([](Settings& s) { s.warmup = 11; }), "warmup 11 is longer than epochs 10");
}

TEST(Losses, ByHand) {
  const torch::Tensor target = torch::tensor({{1.0, 0.0}, {0.0, 2.0}, {0.0, 0.0}}),
                      predicted = torch::tensor({{3.0, 4.0}, {0.0, 5.0}, {1.0, 1.0}});
  // Cosines 0.6, 1, 0.
  EXPECT_NEAR(scaled_cosine_error(predicted, target, 2).item<double>(), (0.16 + 0 + 1) / 3, 1e-7);

  // A path 0 - 1 - 2 with node 1 masked: both pairs count, each from 1 outwards. Errors 0.5 and 3.
  const std::vector<int32_t> sources = {0, 1, 1, 2, 0, 1, 2}, targets = {1, 0, 2, 1, 0, 1, 2};
  const MessageGraph graph(EdgeIndex::from_list(sources, targets, 3));
  const torch::Tensor distances = torch::zeros({7}), values = torch::tensor({0.5, 3.0});
  EXPECT_NEAR(distance_loss(graph, values, distances, torch::tensor({1}, torch::kInt64)).item<double>(),
              (0.125 + 2.5) / 2, 1e-6);
  // Node 0 masked: one pair.
  EXPECT_NEAR(distance_loss(graph, values, distances, torch::tensor({0}, torch::kInt64)).item<double>(), 0.125, 1e-6);
  EXPECT_EQ(distance_loss(graph, values, distances, torch::empty({0}, torch::kInt64)).item<double>(), 0);
}

}  // namespace
}  // namespace graphpae
