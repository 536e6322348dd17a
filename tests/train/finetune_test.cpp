#include "graphpae/train/finetune.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <numeric>

#include "graphpae/model/named_tensors.h"
#include "graphpae/train/molecule_objective.h"
#include "graphpae/train/pretrain.h"
#include "tests/support/expect_error.h"
#include "tests/support/small_graph.h"
#include "tests/support/small_molecules.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using test::same_bits;

const double kMissing = std::nan("");

NamedTensors copy_of(const NamedTensors& tensors) {
  NamedTensors copy;
  for (const auto& [name, tensor] : tensors) copy.emplace_back(name, tensor.detach().clone());
  return copy;
}

bool same(const NamedTensors& a, const NamedTensors& b, const std::string& prefix = "") {
  bool equal = a.size() == b.size();
  for (size_t k = 0; k < a.size() && equal; ++k)
    equal = !a[k].first.starts_with(prefix) || same_bits(a[k].second, b[k].second);
  return equal;
}

// Targets that can be read off the atoms: how many have type 7 (three bonds), and whether there are more than one.
class FinetuneTest : public testing::Test {
 protected:
  FinetuneTest() : set(test::random_molecules(60)), settings(test::small_molecule_settings()) {
    settings.epochs = 30;
    settings.batch_size = 10;
    settings.pooling = Pooling::sum;
    molecules = inputs(1);
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
  std::shared_ptr<const MoleculeInputs> inputs(int threads) {
    InputOptions options;
    options.threads = {threads};
    return prepare(set, settings, options);
  }
  std::shared_ptr<MoleculeObjective> objective(std::vector<std::string> names, std::vector<double> values) {
    return std::make_shared<MoleculeObjective>(molecules, std::move(names), std::move(values), split, settings,
                                               finetune);
  }
  std::shared_ptr<MoleculeObjective> sevens() { return objective({"sevens"}, counts); }
  Finetuner tuner(std::shared_ptr<Objective> what, const Model* pretrained = nullptr) {
    return Finetuner(std::move(what), settings, finetune, pretrained);
  }

  GraphSet set;
  Settings settings;
  FinetuneSettings finetune;
  std::shared_ptr<const MoleculeInputs> molecules;
  Split split;
  std::vector<double> counts, many;
};

TEST_F(FinetuneTest, LearnsNumbersInTheirUnits) {
  const auto goal = sevens();
  Finetuner tuned = tuner(goal);
  EXPECT_EQ(goal->metric(), TargetMetric::rmse);
  const double before = *goal->score(tuned.predictor(), split.test).mean;
  std::vector<EpochMetrics> epochs;
  while (!tuned.done()) epochs.push_back(tuned.train_epoch());
  EXPECT_LT(epochs.back().loss(), 0.3 * epochs.front().loss());
  const auto best = std::min_element(epochs.begin(), epochs.end(), [](const EpochMetrics& a, const EpochMetrics& b) {
    return a.term("validation") < b.term("validation");
  });
  EXPECT_EQ(tuned.best_epoch(), best->epoch);
  EXPECT_EQ(tuned.reported_epoch(), best->epoch);
  tuned.finish();
  const TargetScores validation = goal->score(tuned.predictor(), split.val);
  EXPECT_EQ(*validation.scaled, best->term("validation"));
  EXPECT_NEAR(*validation.scaled, *validation.mean / goal->deviations()[0], 1e-12);
  const TargetScores test = goal->score(tuned.predictor(), split.test);
  EXPECT_LT(*test.mean, 0.6 * before);
  EXPECT_EQ(test.mean, test.tasks[0].rmse);
  EXPECT_LE(*test.tasks[0].mae, *test.tasks[0].rmse);
  const std::vector<double> predictions = tuned.predictor().predict(*molecules, split.test);
  EXPECT_NEAR(std::accumulate(predictions.begin(), predictions.end(), 0.0) / 10, 107, 8);
}

TEST_F(FinetuneTest, LearnsClassesAndPassesOverMissingLabels) {
  std::vector<double> values;  // a second task with every other label missing
  for (size_t g = 0; g < many.size(); ++g) values.insert(values.end(), {many[g], g % 2 == 0 ? kMissing : 1 - many[g]});
  const auto goal = objective({"many", "few"}, values);
  Finetuner tuned = tuner(goal);
  EXPECT_EQ(goal->metric(), TargetMetric::rocauc);
  while (!tuned.done()) EXPECT_TRUE(std::isfinite(tuned.train_epoch().loss()));
  tuned.finish();
  EXPECT_GT(*goal->score(tuned.predictor(), split.test).tasks[0].rocauc, 0.85);
  for (const double share : tuned.predictor().predict(*molecules, split.test)) {
    EXPECT_GT(share, 0);
    EXPECT_LT(share, 1);
  }
}

// A molecule without any label teaches nothing: whatever stands in for it, the weights are the same.
TEST_F(FinetuneTest, MissingLabelsHaveNoInfluence) {
  settings.epochs = 2;
  settings.batch_size = 0;
  std::vector<double> values = counts;
  values[3] = kMissing;
  const auto train = [&] {
    Finetuner tuned = tuner(objective({"y"}, values));
    const double loss = tuned.train_epoch().loss();
    return std::pair{loss, copy_of(tuned.predictor().learned())};
  };
  const auto whole = train();
  // The loss of the others, by hand: the mean over 39 labels of an untrained model's squared errors.
  Finetuner untrained = tuner(objective({"y"}, values));
  const auto goal = objective({"y"}, values);
  const StepLoss step = goal->step(untrained.predictor(), 0, 0, 0);
  EXPECT_EQ(step.value.gradient.numel(), 40);
  EXPECT_EQ((step.value.gradient == 0).sum().item<int64_t>(), 1);
  // Labels of the test part count nowhere in training.
  for (const int32_t g : split.test) values[g] = -1e6;
  const auto other = train();
  EXPECT_EQ(whole.first, other.first);
  EXPECT_TRUE(same(whole.second, other.second));
}

TEST_F(FinetuneTest, StandardisesByTheTrainingPartOnly) {
  std::vector<double> values = counts;
  for (const int32_t g : split.val) values[g] += 1000;
  for (const int32_t g : split.test) values[g] -= 5000;
  const auto plain = sevens(), shifted = objective({"sevens"}, values);
  Finetuner one = tuner(plain), two = tuner(shifted);
  EXPECT_EQ(one.predictor().shift, two.predictor().shift);
  EXPECT_EQ(one.predictor().scale, two.predictor().scale);
  double mean = 0, squares = 0;
  for (const int32_t g : split.train) mean += counts[g] / 40;
  for (const int32_t g : split.train) squares += (counts[g] - mean) * (counts[g] - mean) / 40;
  EXPECT_NEAR(one.predictor().shift[0], mean, 1e-9);
  EXPECT_NEAR(one.predictor().scale[0], std::sqrt(squares), 1e-9);
  finetune.protocol = Protocol::paper;
  Finetuner raw = tuner(sevens());
  EXPECT_EQ(raw.predictor().shift[0], 0);
  EXPECT_EQ(raw.predictor().scale[0], 1);
}

TEST_F(FinetuneTest, PaperReportsTheLastEpoch) {
  finetune.protocol = Protocol::paper;
  finetune.loss = TargetLoss::l1;
  settings.epochs = 20;
  settings.lr = 0.5;  // restless: the last epoch is not the best
  const auto goal = sevens();
  EXPECT_EQ(goal->metric(), TargetMetric::mae);
  Finetuner tuned = tuner(goal);
  EpochMetrics last;
  while (!tuned.done()) last = tuned.train_epoch();
  ASSERT_LT(tuned.best_epoch(), 20);
  EXPECT_GT(last.loss(), 3);  // of labels around 107, not of standardised ones
  const NamedTensors trained = copy_of(tuned.predictor().learned());
  tuned.finish();
  EXPECT_EQ(tuned.reported_epoch(), 20);
  EXPECT_TRUE(same(trained, tuned.predictor().learned()));
}

TEST_F(FinetuneTest, StopsWhenPatienceEnds) {
  settings.epochs = 500;
  settings.lr = 0.05;  // restless
  finetune.patience = 3;
  Finetuner tuned = tuner(sevens());
  while (!tuned.done()) tuned.train_epoch();
  EXPECT_TRUE(tuned.stopped_early());
  EXPECT_LT(tuned.epoch(), 500);
  EXPECT_EQ(tuned.epoch(), tuned.best_epoch() + 3);
  tuned.finish();
  EXPECT_EQ(tuned.reported_epoch(), tuned.best_epoch());
}

TEST_F(FinetuneTest, StartsFromAModelAndIsRepeatable) {
  settings.epochs = 2;
  settings.dropout = 0.2;
  const auto model = pretrain(set, settings);
  Finetuner scratch = tuner(sevens()), one = tuner(sevens(), model.get());
  molecules = inputs(3);
  Finetuner two = tuner(sevens(), model.get());
  const torch::Tensor start = named_tensors(*model->encoder).front().second;
  const auto first_of = [](Finetuner& tuned) { return tuned.predictor().learned().front().second; };
  EXPECT_TRUE(same_bits(first_of(one), start));
  EXPECT_FALSE(same_bits(first_of(scratch), start));
  while (!one.done()) EXPECT_EQ(one.train_epoch().loss(), two.train_epoch().loss());
  EXPECT_TRUE(same(one.predictor().learned(), two.predictor().learned()));
  EXPECT_EQ(one.predictor().predict(*molecules, split.test), two.predictor().predict(*molecules, split.test));
  EXPECT_FALSE(same_bits(first_of(one), start));
  EXPECT_TRUE(same_bits(named_tensors(*model->encoder).front().second, start));  // the model given stays as it is
}

TEST_F(FinetuneTest, FrozenPartsKeepTheirBits) {
  settings.epochs = 3;
  settings.dropout = 0.3;
  for (const Freeze freeze : {Freeze::encoder, Freeze::embeddings}) {
    finetune.freeze = freeze;
    finetune.head = HeadKind::mlp;
    const auto goal = sevens();
    Finetuner tuned = tuner(goal);
    const NamedTensors before = copy_of(tuned.predictor().learned());
    EpochMetrics last;
    while (!tuned.done()) last = tuned.train_epoch();
    const NamedTensors after = tuned.predictor().learned();
    EXPECT_FALSE(same(before, after, "head."));
    EXPECT_EQ(same(before, after, "encoder."), freeze == Freeze::encoder);
    EXPECT_EQ(same(before, after, "encoder.layer"), freeze == Freeze::encoder);
    for (const char* embedding : {"encoder.atom", "encoder.bond", "encoder.distance"})
      EXPECT_TRUE(same(before, after, embedding)) << embedding;
    // Rows that were kept are those that the encoder makes.
    double squares = 0;
    const std::vector<double> predictions = tuned.predictor().predict(*molecules, split.val);
    for (size_t m = 0; m < 10; ++m) squares += std::pow(predictions[m] - counts[split.val[m]], 2) / 10;
    EXPECT_NEAR(last.term("validation") * goal->deviations()[0], std::sqrt(squares), 1e-6);
  }
}

TEST_F(FinetuneTest, TheEncoderHasALearningRateOfItsOwn) {
  settings.epochs = 1;
  settings.batch_size = 0;
  settings.optimizer = OptimizerKind::sgd;
  settings.lr = 1e-3;
  const auto change = [&](double encoder_lr, const std::string& prefix) {
    finetune.encoder_lr = encoder_lr;
    Finetuner tuned = tuner(sevens());
    const NamedTensors before = copy_of(tuned.predictor().learned());
    tuned.train_epoch();
    double largest = 0;
    const NamedTensors after = tuned.predictor().learned();
    for (size_t k = 0; k < after.size(); ++k) {
      if (after[k].first.starts_with(prefix) && after[k].first.find("running") == std::string::npos)
        largest = std::max(largest, test::largest_difference(after[k].second, before[k].second));
    }
    return largest;
  };
  EXPECT_GT(change(0, "encoder."), 0);
  EXPECT_EQ(change(0, "encoder."), change(1e-3, "encoder."));
  EXPECT_NEAR(change(1e-1, "encoder.") / change(1e-3, "encoder."), 100, 1);
  EXPECT_EQ(change(1e-1, "head."), change(1e-3, "head."));
}

TEST_F(FinetuneTest, GoesOnToTheSameBits) {
  const test::TempDir dir;
  settings.epochs = 20;
  settings.warmup = 2;
  settings.dropout = 0.3;
  finetune.encoder_lr = 1e-3;
  // Validation labels that contradict the others: the best epoch comes early and lies before the checkpoint.
  for (const int32_t g : split.val) counts[g] = 200 - counts[g];
  Finetuner whole = tuner(sevens());
  std::vector<EpochMetrics> expected;
  while (!whole.done()) expected.push_back(whole.train_epoch());
  const int64_t done = whole.best_epoch() + 1;
  ASSERT_LT(done, 20);
  Finetuner first = tuner(sevens());
  while (first.epoch() < done) first.train_epoch();
  first.train_step();  // the first of four
  first.save(dir / "c.safetensors", "data");
  Finetuner second = tuner(sevens());
  second.restore(dir / "c.safetensors", "data");
  EXPECT_EQ(second.epoch(), done);
  EXPECT_EQ(second.step(), 1);
  for (size_t e = done; e < 20; ++e) {
    const EpochMetrics epoch = second.train_epoch();
    EXPECT_EQ(epoch.loss(), expected[e].loss());
    EXPECT_EQ(epoch.term("validation"), expected[e].term("validation"));
  }
  EXPECT_TRUE(same(whole.predictor().learned(), second.predictor().learned()));
  EXPECT_EQ(whole.best_epoch(), second.best_epoch());
  whole.finish();
  second.finish();
  EXPECT_TRUE(same(whole.predictor().learned(), second.predictor().learned()));

  EXPECT_DATA_ERROR(second.restore(dir / "c.safetensors", "others"), "belongs to other data");
  Finetuner renamed = tuner(objective({"eights"}, counts));
  EXPECT_USAGE_ERROR(renamed.restore(dir / "c.safetensors", "data"), "belongs to targets sevens, now targets eights");
  const auto model = pretrain(set, settings);
  Finetuner started = tuner(sevens(), model.get());
  EXPECT_USAGE_ERROR(started.restore(dir / "c.safetensors", "data"), "started from other weights");
  finetune.head = HeadKind::mlp;
  Finetuner wider = tuner(sevens());
  EXPECT_USAGE_ERROR(wider.restore(dir / "c.safetensors", "data"), "other settings");
}

TEST_F(FinetuneTest, ModelFilesPredictTheSame) {
  const test::TempDir dir;
  settings.epochs = 1;
  finetune.head = HeadKind::mlp;
  const auto goal =
      std::make_shared<MoleculeObjective>(molecules, std::vector<std::string>{"sevens"}, counts, split, settings,
                                          finetune, "transfer", std::vector<TargetUnit>{{"eV", "meV", 1000}});
  Finetuner tuned = tuner(goal);
  tuned.train_epoch();
  save_predictor(dir / "m", tuned.predictor(), "");
  Predictor loaded = load_predictor(dir / "m");
  EXPECT_EQ(loaded.predict(*molecules, split.test), tuned.predictor().predict(*molecules, split.test));
  EXPECT_EQ(loaded.tasks.names, std::vector<std::string>{"sevens"});
  EXPECT_EQ(loaded.tasks.units[0].name, "eV");
  EXPECT_EQ(loaded.tasks.units[0].to_paper, 1000);
  EXPECT_EQ(loaded.tasks.featurizer, "transfer");
  EXPECT_EQ(loaded.tasks.kind, OutputKind::numbers);
  dir.write("m/tasks.json", "{\"format\": \"graphpae tasks\"}");
  EXPECT_DATA_ERROR(load_predictor(dir / "m"), "not the tasks of a fine-tuned model");
  std::filesystem::remove(dir / "m/tasks.json");
  EXPECT_DATA_ERROR(load_predictor(dir / "m"), "was not fine-tuned");
}

TEST_F(FinetuneTest, WhatCannotBeLearntIsRefused) {
  std::vector<double> values;
  for (int32_t g = 0; g < 60; ++g) values.insert(values.end(), {counts[g], g < 40 ? kMissing : 1.5});
  EXPECT_DATA_ERROR(objective({"x", "y"}, values), "target 'y' has no label in the training part");
  values = counts;
  for (const int32_t g : split.val) values[g] = kMissing;
  EXPECT_DATA_ERROR(objective({"y"}, values), "validation part: no target has labels to be scored by");
  finetune.loss = TargetLoss::l1;
  EXPECT_USAGE_ERROR(objective({"many"}, many), "loss l1 is for numbers");
  finetune.loss = TargetLoss::bce;
  EXPECT_USAGE_ERROR(sevens(), "loss bce is for classes 0 and 1");
  finetune.loss = TargetLoss::automatic;
  const auto model = pretrain(set, settings);
  settings.width = 32;
  EXPECT_DATA_ERROR(tuner(sevens(), model.get()), "another architecture");
  finetune.patience = 2;
  finetune.protocol = Protocol::paper;
  EXPECT_USAGE_ERROR(check(finetune), "patience");
}

}  // namespace
}  // namespace graphpae
