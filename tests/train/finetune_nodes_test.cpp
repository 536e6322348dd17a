#include <gtest/gtest.h>
#include <torch/torch.h>

#include "graphpae/train/finetune.h"
#include "graphpae/train/node_objective.h"
#include "graphpae/train/pretrain.h"
#include "tests/support/expect_error.h"
#include "tests/support/small_graph.h"
#include "tests/support/small_molecules.h"

namespace graphpae {
namespace {

// Nodes of a class are joined and share a feature.
Graph labelled_graph() {
  GraphParts parts;
  parts.num_nodes = 60;
  Buffer<Edge> edges;
  for (int32_t i = 0; i + 3 < 60; ++i) edges.push_back({i, i + 3});
  parts.edges.push_back(std::move(edges));
  Buffer<float> values(60 * 12, 0.0f);
  Split split;
  for (int32_t i = 0; i < 60; ++i) {
    values[i * 12 + i % 3] = 3;
    values[i * 12 + 3 + i % 9] = 1;
    parts.labels.push_back(i % 10 == 9 ? kUnlabelled : i % 3);
    (i < 30 ? split.train : i < 45 ? split.val : split.test).push_back(i);
  }
  parts.features = Features::compact(60, 12, std::move(values));
  parts.splits = {split};
  return Graph(std::move(parts));
}

TEST(FinetuneNodes, LearnsClassesTheSameWithAnyThreads) {
  const Graph graph = labelled_graph();
  Settings settings = test::small_settings();
  settings.epochs = 40;
  settings.dropout = 0.1;
  const auto train = [&](int threads, Freeze freeze) {
    InputOptions options;
    options.threads = {threads};
    FinetuneSettings finetune;
    finetune.freeze = freeze;
    const auto goal = std::make_shared<NodeObjective>(graph, make_input(graph, settings, options), graph.splits()[0], 0,
                                                      settings, finetune);
    Finetuner tuned(goal, settings, finetune, nullptr);
    while (!tuned.done()) tuned.train_epoch();
    tuned.finish();
    const double accuracy = *goal->accuracy(tuned.predictor(), goal->split().test);
    const std::vector<double> shares = tuned.predictor().predict(make_input(graph, settings, options));
    EXPECT_NEAR(shares[0] + shares[1] + shares[2], 1, 1e-12);
    return std::pair{accuracy, shares};
  };
  const auto one = train(1, Freeze::none), three = train(3, Freeze::none);
  EXPECT_GT(one.first, 0.9);
  EXPECT_EQ(one.second, three.second);
  EXPECT_GT(train(2, Freeze::encoder).first, 0.5);
  FinetuneSettings wrong;
  wrong.loss = TargetLoss::l1;
  EXPECT_USAGE_ERROR(NodeObjective(graph, make_input(graph, settings), graph.splits()[0], 0, settings, wrong),
                     "cross entropy");
}

TEST(FinetuneSettings, ShapeOfTheModelTrainingOfTheRecipe) {
  Settings model = test::small_molecule_settings(), training;
  training.width = 300;
  training.epochs = 77;
  training.dropout = 0.4;
  training.pooling = Pooling::max;
  training.eigenvectors = 9;
  const Settings merged = finetune_settings(model, training);
  EXPECT_EQ(merged.width, 24);
  EXPECT_EQ(merged.eigenvectors, 4);
  EXPECT_EQ(merged.encoder, EncoderKind::gated_gcn);
  EXPECT_EQ(merged.epochs, 77);
  EXPECT_EQ(merged.dropout, 0.4);
  EXPECT_EQ(merged.pooling, Pooling::max);
}

}  // namespace
}  // namespace graphpae
