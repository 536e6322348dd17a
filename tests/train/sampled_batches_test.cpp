#include <gtest/gtest.h>
#include <torch/torch.h>

#include <set>

#include "graphpae/methods/graph_pae/graph_pae.h"
#include "graphpae/model/embed.h"
#include "graphpae/model/named_tensors.h"
#include "graphpae/train/batches.h"
#include "graphpae/train/pretrain.h"
#include "tests/support/expect_error.h"
#include "tests/support/small_graph.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using test::largest_difference;
using test::same_bits;
using test::small_graph;
using test::TempDir;

Settings sampled_settings(int64_t batch, std::vector<int64_t> fanout) {
  Settings settings = test::small_settings();
  settings.layers = 3;
  settings.batch_size = batch;
  settings.fanout = std::move(fanout);
  settings.row_normalize = false;
  return settings;
}

// The same graph with every feature stored.
Graph with_dense_features(const Graph& graph) {
  GraphParts parts;
  parts.num_nodes = graph.num_nodes();
  Buffer<Edge> edges;
  for (int32_t i = 0; i < graph.num_nodes(); ++i) {
    for (const int32_t j : graph.adjacency().row(i)) edges.push_back({i, j});
  }
  parts.edges.push_back(std::move(edges));
  Buffer<float> values(static_cast<size_t>(graph.num_nodes() * graph.features().columns()), 0.0f);
  for (int64_t i = 0; i < graph.num_nodes(); ++i) {
    const SparseRow row = graph.features().sparse_row(i);
    for (size_t k = 0; k < row.columns.size(); ++k)
      values[i * graph.features().columns() + row.columns[k]] = row.values[k];
  }
  parts.features = Features::dense(graph.num_nodes(), graph.features().columns(), std::move(values));
  return Graph(std::move(parts));
}

InputOptions graph_options(Kernels kernels, int threads = 2) {
  InputOptions options;
  options.kernels = kernels;
  options.threads = {threads};
  return options;
}

Corruption corruption_of(const GraphInput& input, const Settings& settings) {
  Corruption corruption = draw_corruption(input.num_seeds(), settings.eigenvectors, settings, Rng(4));
  widen(corruption, input.num_nodes());
  return corruption;
}

struct Learnt {
  Losses losses;
  std::vector<std::pair<std::string, torch::Tensor>> gradients;
};
Learnt learn(const GraphInput& input, const Settings& settings, const InputShape& shape) {
  GraphPae model(settings, shape);
  model.train();
  Learnt learnt{model.learn(input, corruption_of(input, settings), 9), {}};
  for (const auto& item : model.named_parameters())
    learnt.gradients.emplace_back(
        item.key(), item.value().grad().defined() ? item.value().grad().clone() : torch::zeros_like(item.value()));
  return learnt;
}

void expect_alike(const Learnt& a, const Learnt& b, double tolerance) {
  EXPECT_NEAR(a.losses.feature.item<double>(), b.losses.feature.item<double>(), tolerance);
  EXPECT_NEAR(a.losses.position.item<double>(), b.losses.position.item<double>(), tolerance);
  ASSERT_EQ(a.gradients.size(), b.gradients.size());
  for (size_t k = 0; k < a.gradients.size(); ++k) {
    const double scale = 1e-3 + b.gradients[k].second.abs().max().item<double>();
    EXPECT_LT(largest_difference(a.gradients[k].second, b.gradients[k].second), tolerance * 10 * scale)
        << a.gradients[k].first;
  }
}

TEST(SampledBatches, EveryNodeIsASeedOnceInAnEpoch) {
  const Graph graph = small_graph(50, 8);
  const Settings settings = sampled_settings(16, {3, 2, 2});
  const PreparedGraph prepared = prepare(graph, settings);
  SampledBatches batches(prepared, settings);
  ASSERT_EQ(batches.steps_per_epoch(), 4);
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    int64_t seeds = 0;
    torch::Tensor rows = torch::zeros({settings.eigenvectors}, torch::kFloat64);
    for (int64_t step = 0; step < 4; ++step) {
      const GraphInput& input = batches.input(epoch, step);
      EXPECT_EQ(input.num_seeds(), step < 3 ? 16 : 2);
      EXPECT_EQ(input.layers.size(), 3u);
      EXPECT_LE(input.rows_after(2), input.rows_after(1));
      EXPECT_LE(input.rows_after(1), input.rows_after(0));
      seeds += input.num_seeds();
      rows += input.positions.narrow(0, 0, input.num_seeds()).sum(0);
    }
    EXPECT_EQ(seeds, 50);
    EXPECT_LT(largest_difference(rows, prepared.positions.sum(0)), 1e-12);
  }
}

// With all neighbours, seeds are represented as in the whole graph.
TEST(SampledBatches, AllNeighboursGiveTheWholeGraph) {
  const Graph sparse = small_graph(60, 10), dense = with_dense_features(sparse);
  for (const Graph* graph : {&sparse, &dense}) {
    for (const Kernels kernels : {Kernels::fused, Kernels::reference}) {
      const Settings settings = sampled_settings(7, {});
      Model model(settings, input_shape(*graph));
      const PreparedGraph prepared = prepare(*graph, settings, graph_options(kernels));
      EmbedOptions sampled;
      sampled.sampled = true;
      EXPECT_LT(largest_difference(embed(model, prepared, sampled), embed(model, prepared)), 2e-6);
    }
  }
}

// All nodes as seeds and all neighbours: the losses and gradients of the whole graph.
TEST(SampledBatches, AllSeedsGiveTheWholeLoss) {
  const Graph graph = with_dense_features(small_graph(60, 10));
  const Settings settings = sampled_settings(60, {});
  for (const Kernels kernels : {Kernels::fused, Kernels::reference}) {
    const PreparedGraph prepared = prepare(graph, settings, graph_options(kernels));
    NeighbourSampler sampler(graph.adjacency(), sampling_options(settings));
    std::vector<int32_t> all(60);
    std::iota(all.begin(), all.end(), 0);
    expect_alike(learn(sample_input(prepared, sampler.sample(all, Rng(1), {1})), settings, input_shape(graph)),
                 learn(whole_input(prepared), settings, input_shape(graph)), 2e-6);
  }
}

TEST(SampledBatches, FusedIsTheReference) {
  const Graph sparse = small_graph(80, 10), dense = with_dense_features(sparse);
  for (const Graph* graph : {&sparse, &dense}) {
    for (const bool replace : {false, true}) {
      Settings settings = sampled_settings(12, {4, 3, 2});
      settings.sample_replace = replace;
      settings.dropout = 0.2;
      settings.edge_dropout = 0.3;
      settings.replace_ratio = 0.3;
      std::vector<Learnt> learnt;
      for (const Kernels kernels : {Kernels::fused, Kernels::reference}) {
        const PreparedGraph prepared = prepare(*graph, settings, graph_options(kernels));
        SampledBatches batches(prepared, settings);
        learnt.push_back(learn(batches.input(0, 1), settings, input_shape(*graph)));
      }
      expect_alike(learnt[0], learnt[1], 5e-6);
    }
  }
}

TEST(SampledBatches, SameBitsForAnyThreadsAndAfterResuming) {
  const Graph graph = with_dense_features(small_graph(70, 10));
  Settings settings = sampled_settings(20, {4, 3, 2});
  settings.epochs = 3;
  std::vector<torch::Tensor> first;
  for (const int threads : {1, 2, 8}) {
    Pretrainer trainer(prepare(graph, settings, graph_options(Kernels::fused, threads)), input_shape(graph), settings);
    EXPECT_EQ(trainer.steps_per_epoch(), 4);
    while (!trainer.done()) trainer.train_step();
    std::vector<torch::Tensor> tensors;
    for (const auto& [name, tensor] : named_tensors(trainer.method())) tensors.push_back(tensor.clone());
    if (first.empty()) first = tensors;
    for (size_t k = 0; k < first.size(); ++k) EXPECT_TRUE(same_bits(first[k], tensors[k]));
  }
  const TempDir dir;
  const auto fresh = [&] {
    return Pretrainer(prepare(graph, settings, graph_options(Kernels::fused)), input_shape(graph), settings);
  };
  Pretrainer begun = fresh(), resumed = fresh();
  for (int step = 0; step < 6; ++step) begun.train_step();
  begun.save(dir / "checkpoint", "data");
  resumed.restore(dir / "checkpoint", "data");
  while (!resumed.done()) resumed.train_step();
  size_t k = 0;
  for (const auto& [name, tensor] : named_tensors(resumed.method())) EXPECT_TRUE(same_bits(first[k++], tensor)) << name;
}

TEST(SampledBatches, LearnsFromSamples) {
  const Graph graph = small_graph(120, 12);
  Settings settings = sampled_settings(30, {5, 4, 3});
  settings.width = 64;
  settings.epochs = 40;
  settings.lr = 3e-3;
  Pretrainer trainer(prepare(graph, settings), input_shape(graph), settings);
  const EpochMetrics first = trainer.train_epoch();
  EpochMetrics last = first;
  while (!trainer.done()) last = trainer.train_epoch();
  EXPECT_LT(last.term("loss_feature"), 0.8 * first.term("loss_feature"));
  EXPECT_LT(last.term("loss_position"), 0.5 * first.term("loss_position"));
}

TEST(SampledBatches, FanoutsMustFitTheLayers) {
  EXPECT_USAGE_ERROR(sampling_options(sampled_settings(8, {3, 2})), "fanout has 2 numbers for 3 layers");
  EXPECT_EQ(sampling_options(sampled_settings(8, {})).fanout, (std::vector<int64_t>{0, 0, 0}));
}

}  // namespace
}  // namespace graphpae
