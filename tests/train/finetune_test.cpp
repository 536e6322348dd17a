#include "graphpae/train/finetune.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <numeric>

#include "graphpae/model/named_tensors.h"
#include "graphpae/train/pretrain.h"
#include "tests/support/expect_error.h"
#include "tests/support/small_graph.h"
#include "tests/support/small_molecules.h"

namespace graphpae {
namespace {

using test::same_bits;

// Targets that can be read off the atoms: how many have type 7 (three bonds), and whether the first one has type 5.
class FinetuneTest : public testing::Test {
 protected:
  FinetuneTest() : set(test::random_molecules(60)), settings(test::small_molecule_settings()) {
    settings.epochs = 30;
    settings.batch_size = 10;
    settings.pooling = Pooling::sum;
    InputOptions options;
    options.threads = {1};
    molecules = make_input(set, settings, options);
    for (int32_t g = 0; g < 60; ++g) (g < 40 ? split.train : g < 50 ? split.val : split.test).push_back(g);
    const GraphSetParts& parts = set.parts();
    for (int64_t g = 0; g < 60; ++g) {
      double sevens = 0;
      for (int64_t i = parts.node_offsets[g]; i < parts.node_offsets[g + 1]; ++i)
        sevens += parts.node_codes.values[2 * i] == 7;
      counts.push_back(100 + 7 * sevens);
      many.push_back(sevens > 1 ? 1 : 0);
    }
  }
  Finetuner tuner(const GraphTargets& targets, const GraphPae* pretrained = nullptr) {
    return Finetuner(molecules, targets, split, settings, pretrained);
  }

  GraphSet set;
  Settings settings;
  std::shared_ptr<const MoleculeInputs> molecules;
  Split split;
  std::vector<double> counts, many;
};

TEST_F(FinetuneTest, LearnsNumbersInTheirUnits) {
  const GraphTargets targets{{"sevens"}, counts};
  Finetuner tuned = tuner(targets);
  EXPECT_EQ(tuned.metric(), GraphMetric::rmse);
  const double before = tuned.score(split.test).mean;
  std::vector<FinetuneEpoch> epochs;
  while (!tuned.done()) epochs.push_back(tuned.train_epoch());
  EXPECT_LT(epochs.back().loss, 0.3 * epochs.front().loss);
  const auto best = std::min_element(epochs.begin(), epochs.end(), [](const FinetuneEpoch& a, const FinetuneEpoch& b) {
    return a.validation < b.validation;
  });
  EXPECT_EQ(tuned.best_epoch(), best->epoch);
  tuned.restore_best();
  EXPECT_EQ(tuned.score(split.val).mean, best->validation);
  EXPECT_LT(tuned.score(split.test).mean, 0.6 * before);
  const std::vector<double> predictions = tuned.predict(split.test);
  EXPECT_NEAR(std::accumulate(predictions.begin(), predictions.end(), 0.0) / 10, 107, 8);
}

TEST_F(FinetuneTest, LearnsClassesAndPassesOverMissingLabels) {
  // A second task with every other label missing, and a third without any.
  std::vector<double> values;
  for (size_t g = 0; g < many.size(); ++g) {
    const double missing = std::nan("");
    values.insert(values.end(), {many[g], g % 2 == 0 ? missing : 1 - many[g], missing});
  }
  const GraphTargets targets{{"many", "few", "nothing"}, values};
  Finetuner tuned = tuner(targets);
  EXPECT_EQ(tuned.metric(), GraphMetric::rocauc);
  while (!tuned.done()) EXPECT_TRUE(std::isfinite(tuned.train_epoch().loss));
  tuned.restore_best();
  const FinetuneScores scores = tuned.score(split.test);
  ASSERT_EQ(scores.tasks.size(), 3u);
  EXPECT_GT(*scores.tasks[0], 0.85);
  EXPECT_FALSE(scores.tasks[2]);
}

TEST_F(FinetuneTest, StartsFromAModelAndIsRepeatable) {
  settings.epochs = 2;
  settings.dropout = 0.2;
  const auto model = pretrain(set, settings);
  const GraphTargets targets{{"sevens"}, counts};
  Finetuner scratch = tuner(targets), one = tuner(targets, model.get()), two = tuner(targets, model.get());
  const torch::Tensor start = named_tensors(*model).front().second;
  EXPECT_TRUE(same_bits(named_tensors(one.model()).front().second, start));
  EXPECT_FALSE(same_bits(named_tensors(scratch.model()).front().second, start));
  while (!one.done()) EXPECT_EQ(one.train_epoch().loss, two.train_epoch().loss);
  EXPECT_EQ(one.predict(split.test), two.predict(split.test));
  EXPECT_FALSE(same_bits(named_tensors(one.model()).front().second, start));
  EXPECT_TRUE(same_bits(named_tensors(*model).front().second, start));  // the model given stays as it is
}

TEST_F(FinetuneTest, WhatCannotBeLearntIsRefused) {
  std::vector<double> values = counts;
  for (const int32_t g : split.train) values[g] = std::nan("");
  const GraphTargets no_training{{"y"}, values};
  EXPECT_DATA_ERROR(tuner(no_training), "the training part has no labels");
  values = counts;
  for (const int32_t g : split.val) values[g] = std::nan("");
  const GraphTargets no_validation{{"y"}, values};
  EXPECT_DATA_ERROR(tuner(no_validation), "validation part: no task has labels to be scored by");
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
