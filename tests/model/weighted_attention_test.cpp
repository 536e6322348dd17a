// Weights of edges in attention: fused and reference, whole graphs, samples and layer by layer.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include <algorithm>

#include "graphpae/model/embed.h"
#include "graphpae/model/gat_layer.h"
#include "tests/support/small_graph.h"

namespace graphpae {
namespace {

Graph with_weights(const Graph& graph, bool weighted) {
  GraphParts parts;
  parts.num_nodes = graph.num_nodes();
  parts.features = graph.features();
  parts.edges.emplace_back();
  parts.weights.emplace_back();
  for (int32_t u = 0; u < graph.num_nodes(); ++u) {
    for (const int32_t v : graph.adjacency().row(u)) {
      if (v <= u) continue;
      parts.edges[0].push_back({u, v});
      parts.weights[0].push_back(0.25f + static_cast<float>((u * 7 + v * 3) % 11));
    }
  }
  if (!weighted) parts.weights.clear();
  return Graph(std::move(parts));
}

double difference(const torch::Tensor& a, const torch::Tensor& b) { return (a - b).abs().max().item<double>(); }

TEST(WeightedAttention, FusedAndReferenceAgree) {
  const Graph graph = with_weights(test::small_graph(40, 12), true);
  const Settings settings = test::small_settings();
  Model model(settings, input_shape(graph));
  InputOptions fused, reference;
  fused.kernels = Kernels::fused;
  reference.kernels = Kernels::reference;
  const torch::Tensor rows = embed(model, graph, fused);
  EXPECT_LT(difference(rows, embed(model, graph, reference)), 1e-4);
  EXPECT_GT(difference(rows, embed(model, with_weights(graph, false), fused)), 1e-3);
  const PreparedGraph prepared = prepare(graph, settings, fused);
  torch::Tensor blocks = torch::empty_like(rows);
  embed_layerwise(model, prepared, int64_t{1} << 30, [&](int64_t first, int64_t count, const float* values) {
    std::copy_n(values, count * settings.width, blocks.data_ptr<float>() + first * settings.width);
  });
  EXPECT_LT(difference(rows, blocks), 1e-4);
}

TEST(WeightedAttention, GradientsOfBothKernelsAgree) {
  const Graph graph = with_weights(test::small_graph(40, 12), true);
  const Settings settings = test::small_settings();
  std::vector<std::vector<torch::Tensor>> gradients;
  for (const Kernels kernels : {Kernels::fused, Kernels::reference}) {
    InputOptions options;
    options.kernels = kernels;
    const GraphInput input = make_input(graph, settings, options);
    Initialiser init(3);
    GatLayer layer(settings, 16, init);
    const torch::Tensor z = init.normal({40, 16}, 1).requires_grad_(true),
                        positions = init.normal({input.graph.num_edges(), 4}, 1).requires_grad_(true),
                        wanted = init.normal({40, 16}, 1);
    const Encoding out = layer->forward(input, input.graph, z, positions, {});
    ((out.nodes * wanted).sum() + out.positions.square().sum()).backward();
    gradients.push_back({z.grad(), positions.grad(), layer->attention_source.grad(), layer->attention_target.grad()});
  }
  for (size_t i = 0; i < gradients[0].size(); ++i) {
    const double largest = gradients[0][i].abs().max().item<double>();
    EXPECT_GT(largest, 0.1) << i;
    EXPECT_LT(difference(gradients[0][i], gradients[1][i]), 1e-5 * largest) << i;
  }
}

TEST(WeightedAttention, IgnoredWeightsChangeNoBit) {
  const Graph weighted = with_weights(test::small_graph(40, 12), true), plain = with_weights(weighted, false);
  Settings settings = test::small_settings();
  settings.weights = WeightUse::ignore;
  Model model(settings, input_shape(plain));
  EXPECT_TRUE(torch::equal(embed(model, weighted), embed(model, plain)));
}

TEST(WeightedAttention, AScaleOfAllWeightsDoesNotMatter) {
  const Graph graph = with_weights(test::small_graph(40, 12), true);
  GraphParts parts;
  parts.num_nodes = graph.num_nodes();
  parts.features = graph.features();
  parts.edges.emplace_back();
  parts.weights.emplace_back();
  for (int32_t u = 0; u < graph.num_nodes(); ++u) {
    for (int64_t e = 0; e < graph.adjacency().degree(u); ++e) {
      parts.edges[0].push_back({u, graph.adjacency().row(u)[e]});
      parts.weights[0].push_back(8 * graph.adjacency().row_weights(u)[e]);
    }
  }
  const Graph scaled(std::move(parts));
  Settings settings = test::small_settings();
  settings.use_positions = false;
  Model model(settings, input_shape(graph));
  EXPECT_LT(difference(embed(model, graph), embed(model, scaled)), 1e-5);
}

}  // namespace
}  // namespace graphpae
