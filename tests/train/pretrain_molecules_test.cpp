#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <filesystem>
#include <set>

#include "graphpae/methods/graph_pae/graph_pae.h"
#include "graphpae/model/named_tensors.h"
#include "graphpae/model/representations.h"
#include "graphpae/run/run_directory.h"
#include "graphpae/train/estimate.h"
#include "graphpae/train/pretrain.h"
#include "tests/support/expect_error.h"
#include "tests/support/small_graph.h"
#include "tests/support/small_molecules.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using test::expect_same;
using test::odd_set;
using test::random_molecules;
using test::same_bits;
using test::small_molecule_settings;
using test::TempDir;

InputOptions options_with(Kernels kernels, int threads = 2) {
  InputOptions options;
  options.kernels = kernels;
  options.threads = {threads};
  return options;
}

Pretrainer trainer_for(const GraphSet& set, const Settings& settings, Kernels kernels = Kernels::fused,
                       int threads = 2) {
  return Pretrainer(prepare(set, settings, options_with(kernels, threads)), input_shape(set), settings);
}

TEST(MoleculeBatches, EveryMoleculeOnceInAnOrderOfTheEpoch) {
  const GraphSet set = random_molecules(23);
  Settings settings = small_molecule_settings();
  const auto molecules = prepare(set, settings);
  MoleculeBatches batches(molecules, settings);
  EXPECT_EQ(batches.steps_per_epoch(), 5);
  // Molecules are told apart by their positions, of which no two are equal.
  const auto epoch_order = [&](MoleculeBatches& source, int64_t epoch) {
    std::vector<double> order;
    for (int64_t step = 0; step < source.steps_per_epoch(); ++step) {
      const GraphInput& input = source.input(epoch, step);
      EXPECT_EQ(input.num_molecules(), step < 4 ? 5 : 3);
      for (int64_t m = 0; m < input.num_molecules(); ++m) {
        order.push_back(
            input.positions.slice(0, input.graph_offsets[m], input.graph_offsets[m + 1]).sum().item<double>());
      }
    }
    return order;
  };
  const std::vector<double> first = epoch_order(batches, 0), second = epoch_order(batches, 1);
  EXPECT_EQ(first.size(), 23u);
  EXPECT_EQ(std::multiset<double>(first.begin(), first.end()), std::multiset<double>(second.begin(), second.end()));
  EXPECT_NE(first, second);
  EXPECT_EQ(epoch_order(batches, 0), first);
  MoleculeBatches again(molecules, settings);
  EXPECT_EQ(epoch_order(again, 1), second);
  settings.seed = 4;
  MoleculeBatches other(molecules, settings);
  EXPECT_NE(epoch_order(other, 0), first);
}

TEST(MoleculeBatches, AllAtOnceAndWithoutEmptyRows) {
  Settings settings = small_molecule_settings();
  settings.batch_size = 0;
  MoleculeBatches batches(prepare(odd_set(), settings), settings);
  EXPECT_EQ(batches.steps_per_epoch(), 1);
  EXPECT_EQ(batches.input(0, 0).num_molecules(), 5);
  EXPECT_EQ(batches.input(0, 0).num_nodes(), 17);
}

TEST(PretrainMolecules, LearnsTypesAndDistances) {
  const GraphSet set = random_molecules(24);
  for (const Kernels kernels : {Kernels::fused, Kernels::reference}) {
    Settings settings = small_molecule_settings();
    settings.width = 64;
    settings.mask_ratio = 0.15;
    settings.batch_size = 12;
    settings.epochs = 80;
    Pretrainer trainer = trainer_for(set, settings, kernels, 1);
    const EpochMetrics first = trainer.train_epoch();
    EpochMetrics last = first;
    while (!trainer.done()) last = trainer.train_epoch();
    EXPECT_GT(first.term("loss_feature"), 0.5);
    EXPECT_LT(last.term("loss_feature"), 0.3 * first.term("loss_feature"));
    EXPECT_LT(last.term("loss_position"), 0.2 * first.term("loss_position"));
  }
}

TEST(PretrainMolecules, MetricsAreMeansOverSteps) {
  const GraphSet set = random_molecules(12);
  const Settings settings = small_molecule_settings();
  Pretrainer trainer = trainer_for(set, settings);
  ASSERT_EQ(trainer.steps_per_epoch(), 3);
  EXPECT_FALSE(trainer.train_step());
  EXPECT_FALSE(trainer.train_step());
  EXPECT_EQ(trainer.step(), 2);
  const auto metrics = trainer.train_step();
  ASSERT_TRUE(metrics);
  EXPECT_EQ(metrics->epoch, 1);
  EXPECT_EQ(trainer.step(), 0);
  EXPECT_NEAR(metrics->loss(), metrics->term("loss_feature") + settings.alpha * metrics->term("loss_position"), 1e-6);
  EXPECT_LT(metrics->term("loss_feature"), 2);
  EXPECT_GT(metrics->seconds, 0);
}

// Stopped after any step, also inside an epoch, and gone on with, a run is the same run: parameters, moments and the
// statistics of batch norm.
TEST(PretrainMolecules, ResumedRunIsTheSameRun) {
  const GraphSet set = random_molecules(13);
  Settings settings = small_molecule_settings();
  settings.dropout = 0.3;
  settings.edge_dropout = 0.2;
  settings.epochs = 3;
  std::vector<EpochMetrics> whole;
  Pretrainer straight = trainer_for(set, settings);
  while (!straight.done()) whole.push_back(straight.train_epoch());
  for (const int stop : {1, 3, 5, 8}) {
    const TempDir dir;
    Pretrainer before = trainer_for(set, settings);
    for (int k = 0; k < stop; ++k) before.train_step();
    before.save(dir / "c.safetensors", "data");
    Pretrainer after = trainer_for(set, settings);
    after.restore(dir / "c.safetensors", "data");
    EXPECT_EQ(after.epoch(), stop / 3);
    EXPECT_EQ(after.step(), stop % 3);
    std::vector<EpochMetrics> rest;
    while (!after.done()) rest.push_back(after.train_epoch());
    expect_same(straight.method(), after.method());
    EXPECT_EQ(rest.front().loss(), whole[stop / 3].loss()) << stop;
    EXPECT_EQ(rest.front().term("loss_position"), whole[stop / 3].term("loss_position"));
  }
}

TEST(PretrainMolecules, CheckpointsInsideAnEpochComeAfterItsBeginning) {
  const TempDir dir;
  const GraphSet set = random_molecules(13);
  const Settings settings = small_molecule_settings();
  Pretrainer trainer = trainer_for(set, settings);
  RunDirectory run = RunDirectory::create(dir / "run", false);
  trainer.train_epoch();
  run.save_checkpoint(trainer, "data");
  trainer.train_step();
  run.save_checkpoint(trainer, "data");
  EXPECT_TRUE(fs::exists(dir / "run/checkpoints/epoch-00000001.step-00000001.safetensors"));
  std::vector<std::string> notes;
  Pretrainer again = trainer_for(set, settings);
  ASSERT_TRUE(run.restore_checkpoint(again, "data", notes));
  EXPECT_EQ(again.epoch(), 1);
  EXPECT_EQ(again.step(), 1);
  again.train_epoch();
  run.save_checkpoint(again, "data");
  EXPECT_FALSE(fs::exists(dir / "run/checkpoints/epoch-00000001.safetensors"));
  Pretrainer last = trainer_for(set, settings);
  ASSERT_TRUE(run.restore_checkpoint(last, "data", notes));
  EXPECT_EQ(last.epoch(), 2);
  EXPECT_EQ(last.step(), 0);
}

TEST(PretrainMolecules, AnyNumberOfThreadsGivesTheSameBits) {
  const GraphSet set = random_molecules(60);
  Settings settings = small_molecule_settings();
  settings.batch_size = 30;
  settings.dropout = 0.2;
  settings.edge_dropout = 0.1;
  settings.epochs = 2;
  Pretrainer one = trainer_for(set, settings, Kernels::fused, 1);
  while (!one.done()) one.train_step();
  for (const int threads : {2, 3, 8}) {
    Pretrainer other = trainer_for(set, settings, Kernels::fused, threads);
    while (!other.done()) other.train_step();
    expect_same(one.method(), other.method());
  }
}

TEST(PretrainMolecules, OddMoleculesTrain) {
  for (const Kernels kernels : {Kernels::fused, Kernels::reference}) {
    Settings settings = small_molecule_settings();
    for (const int64_t batch_size : {0, 1, 2}) {
      settings.batch_size = batch_size;
      Pretrainer trainer = trainer_for(odd_set(), settings, kernels);
      for (int k = 0; k < 3; ++k) EXPECT_TRUE(std::isfinite(trainer.train_epoch().loss()));
      for (const auto& [name, tensor] : named_tensors(trainer.method()))
        EXPECT_TRUE(tensor.isfinite().all().item<bool>()) << name;
    }
    settings.use_positions = false;
    EXPECT_TRUE(std::isfinite(trainer_for(odd_set(), settings, kernels).train_epoch().loss()));
    // A batch of one atom, and it is masked.
    settings.mask_ratio = 1;
    settings.batch_size = 1;
    Pretrainer trainer = trainer_for(odd_set(), settings, kernels);
    trainer.train_epoch();
    for (const auto& [name, tensor] : named_tensors(trainer.method()))
      EXPECT_TRUE(tensor.isfinite().all().item<bool>()) << name;
  }
}

// Batches too small for a masked atom are passed over; if all are, there is nothing to learn.
TEST(PretrainMolecules, BatchesWithoutMaskedAtoms) {
  Settings settings = small_molecule_settings();
  settings.batch_size = 1;
  settings.mask_ratio = 0.2;  // masks an atom of the largest molecule only
  Pretrainer trainer = trainer_for(odd_set(), settings);
  const Decoder decoder = dynamic_cast<GraphPae&>(trainer.method()).feature_decoder;
  const torch::Tensor before = decoder->out->weight.clone();
  EXPECT_TRUE(std::isfinite(trainer.train_epoch().loss()));
  EXPECT_FALSE(same_bits(before, decoder->out->weight));
  EXPECT_NO_THROW(check_trainable(odd_set(), settings));
  settings.mask_ratio = 0.1;
  EXPECT_USAGE_ERROR(trainer_for(odd_set(), settings).train_epoch(), "mask_ratio 0.1 masks none of");
  EXPECT_USAGE_ERROR(check_trainable(odd_set(), settings), "masks none of the 6 atoms of the largest batch");
}

TEST(PretrainMolecules, WhatDoesNotGoTogetherIsRefused) {
  const GraphSet set = random_molecules(5);
  Settings settings = small_molecule_settings();
  settings.encoder = EncoderKind::gat;
  EXPECT_USAGE_ERROR(check_trainable(set, settings), "molecules need encoder=gated_gcn");
  EXPECT_USAGE_ERROR(pretrain(set, settings), "molecules need encoder=gated_gcn");
  settings = small_molecule_settings();
  EXPECT_USAGE_ERROR(pretrain(test::small_graph(20, 5), settings), "one graph needs encoder=gat");
  settings.replace_ratio = 0.1;
  EXPECT_USAGE_ERROR(check_trainable(set, settings), "replace_ratio means nothing for molecules");
}

TEST(EmbedMolecules, SameRowsInAnyBatch) {
  GraphSetParts parts = test::molecule_parts(test::odd_molecules());
  const GraphSet set(parts);
  for (const Kernels kernels : {Kernels::fused, Kernels::reference}) {
    for (const Pooling pooling : {Pooling::mean, Pooling::sum, Pooling::max}) {
      Settings settings = small_molecule_settings();
      settings.pooling = pooling;
      settings.epochs = 2;
      const InputOptions options = options_with(kernels);
      const auto model = pretrain(set, settings, options);
      const auto molecules = prepare(set, settings, options);
      const torch::Tensor rows = embed(*model, *molecules);
      EXPECT_EQ(rows.sizes(), (std::vector<int64_t>{6, 24}));
      EXPECT_TRUE(rows[4].isnan().all().item<bool>());  // has no atoms
      EXPECT_EQ(rows.isnan().sum().item<int64_t>(), 24);
      EXPECT_GT(rows[0].abs().max().item<double>(), 1e-3);
      EXPECT_TRUE(same_bits(rows, embed(*model, set, options)));
      for (const int64_t batch_size : {1, 2, 3}) {
        const torch::Tensor others = embed(*model, *molecules, batch_size);
        if (kernels == Kernels::fused) {
          EXPECT_TRUE(same_bits(rows, others)) << batch_size;
        } else {
          EXPECT_LT((rows - others).nan_to_num().abs().max().item<double>(), 1e-5);
        }
      }
    }
  }
}

TEST(EmbedMolecules, ModelsAreKeptWithTheirStatistics) {
  const TempDir dir;
  const GraphSet set = random_molecules(20);
  const auto model = pretrain(set, small_molecule_settings());
  const NamedTensors tensors = named_tensors(*model);
  const auto statistics = std::find_if(
      tensors.begin(), tensors.end(), [](const auto& item) { return item.first.ends_with("node_norm0.running_mean"); });
  ASSERT_NE(statistics, tensors.end());
  EXPECT_GT(statistics->second.abs().max().item<double>(), 1e-4);
  save_model(dir / "m", *model);
  const auto loaded = load_model(dir / "m");
  expect_same(*model, *loaded);
  EXPECT_TRUE(same_bits(embed(*model, set), embed(*loaded, set)));

  EXPECT_DATA_ERROR(embed(*loaded, test::small_graph(20, 5)), "trained on molecules, the data are one graph");
  GraphSetParts ogb = test::molecule_parts({{{5, 6}, {{0, 1}}}});
  ogb.node_codes = {9, std::vector<int16_t>(18, 0)};
  ogb.edge_codes = {3, std::vector<int16_t>(3, 0)};
  EXPECT_DATA_ERROR(embed(*loaded, GraphSet(ogb)),
                    "trained on codes of featurizer transfer, the data have those of ogb");
}

TEST(MoleculePositions, ComeFromTheCache) {
  const TempDir dir;
  const GraphSet set = random_molecules(20);
  Settings settings = small_molecule_settings();
  InputOptions options;
  options.cache = dir / "cache";
  int64_t solved = 0;
  options.progress = [&](const PositionProgress& p) {
    solved += p.converged;
    return true;
  };
  const std::vector<int32_t> all = prepare(set, settings, options)->with_atoms();
  EXPECT_EQ(solved, 20);
  const auto again = prepare(set, settings, options);
  EXPECT_EQ(solved, 20);
  options.cache.clear();
  EXPECT_TRUE(same_bits(again->batch(all).positions, prepare(set, settings, options)->batch(all).positions));
  options.cache = dir / "cache";
  settings.eigenvectors = 3;
  prepare(set, settings, options);
  EXPECT_EQ(solved, 60);
}

TEST(MoleculeRepresentations, RowsForProbes) {
  const GraphSet set = odd_set();
  Settings settings = small_molecule_settings();
  const auto model = pretrain(set, settings);
  const auto molecules = prepare(set, settings);
  const Features trained = embedded_rows(*model, molecules),
                 untrained = embedded_rows(*graphpae::untrained(*model), molecules);
  EXPECT_EQ(trained.rows(), 6);
  EXPECT_EQ(trained.columns(), 24);
  EXPECT_EQ(trained.dense_row(4)[0], 0);  // no atoms
  EXPECT_EQ(trained.dense_row(0)[3], embed(*model, *molecules)[0][3].item<float>());
  EXPECT_NE(trained.dense_row(0)[3], untrained.dense_row(0)[3]);
  Settings none = settings;
  none.epochs = 0;
  EXPECT_EQ(untrained.dense_row(0)[3], embed(*pretrain(set, none), *molecules)[0][3].item<float>());
}

TEST(MoleculeRepresentations, RawCodesArePooled) {
  Settings settings = small_molecule_settings();
  const auto value = [&](Pooling pooling, int64_t g, int32_t column) {
    settings.pooling = pooling;
    const Features rows = raw_feature_rows(odd_set(), settings);
    EXPECT_EQ(rows.columns(), 119 + 4);
    const SparseRow row = rows.sparse_row(g);
    for (size_t k = 0; k < row.columns.size(); ++k) {
      if (row.columns[k] == column) return row.values[k];
    }
    return 0.0f;
  };
  // Molecule 2 has atoms of types 5, 7, 5, 16 with second codes 2, 1, 2, 1.
  EXPECT_EQ(value(Pooling::sum, 2, 5), 2);
  EXPECT_EQ(value(Pooling::mean, 2, 5), 0.5);
  EXPECT_EQ(value(Pooling::max, 2, 5), 1);
  EXPECT_EQ(value(Pooling::mean, 2, 16), 0.25);
  EXPECT_EQ(value(Pooling::sum, 2, 119 + 1), 2);
  EXPECT_EQ(value(Pooling::sum, 2, 119), 0);
  EXPECT_EQ(value(Pooling::mean, 4, 5), 0);
}

}  // namespace
}  // namespace graphpae
