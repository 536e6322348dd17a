#include "graphpae/train/pretrain.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <cmath>
#include <limits>

#include "graphpae/io/atomic_file.h"
#include "graphpae/methods/graph_pae/graph_pae.h"
#include "graphpae/model/embed.h"
#include "graphpae/model/named_tensors.h"
#include "graphpae/run/run_directory.h"
#include "tests/support/expect_error.h"
#include "tests/support/small_graph.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using test::expect_same;
using test::same_bits;
using test::small_graph;
using test::small_settings;
using test::TempDir;

Pretrainer trainer_for(const Graph& graph, const Settings& settings, Kernels kernels = Kernels::fused,
                       Threads threads = {2}) {
  InputOptions options;
  options.kernels = kernels;
  options.threads = threads;
  return Pretrainer(prepare(graph, settings, options), input_shape(graph), settings);
}

TEST(Pretrain, OverfitsAGraphOfThirtyNodes) {
  const Graph graph = small_graph(30, 12);
  for (const Kernels kernels : {Kernels::fused, Kernels::reference}) {
    Settings settings = small_settings();
    settings.width = 128;
    settings.epochs = 600;
    settings.mask_ratio = 0.1;
    settings.gamma = 1;
    settings.alpha = 1;
    settings.lr = 3e-3;
    Pretrainer trainer = trainer_for(graph, settings, kernels);
    EpochMetrics first = trainer.train_epoch(), last = first;
    while (!trainer.done()) last = trainer.train_epoch();
    EXPECT_GT(first.term("loss_feature"), 0.5);
    EXPECT_LT(last.term("loss_feature"), 0.1);
    EXPECT_LT(last.term("loss_position"), 0.1 * first.term("loss_position"));
  }
}

TEST(Pretrain, ResumedRunIsTheSameRun) {
  const Graph graph = small_graph(40, 10);
  for (const OptimizerKind kind : {OptimizerKind::adam, OptimizerKind::adamw, OptimizerKind::sgd}) {
    Settings settings = small_settings();
    settings.optimizer = kind;
    settings.weight_decay = 1e-3;
    settings.dropout = 0.3;
    settings.edge_dropout = 0.1;
    settings.replace_ratio = 0.2;
    settings.warmup = 3;
    Pretrainer straight = trainer_for(graph, settings);
    while (!straight.done()) straight.train_epoch();

    const TempDir dir;
    Pretrainer before = trainer_for(graph, settings);
    for (int k = 0; k < 5; ++k) before.train_epoch();
    before.save(dir / "c.safetensors", "data");
    Pretrainer after = trainer_for(graph, settings);
    after.restore(dir / "c.safetensors", "data");
    EXPECT_EQ(after.epoch(), 5);
    while (!after.done()) after.train_epoch();
    expect_same(straight.method(), after.method());
  }
}

TEST(Pretrain, AnyNumberOfThreadsGivesTheSameBits) {
  const Graph graph = small_graph(300, 40);
  Settings settings = small_settings();
  settings.width = 64;
  settings.dropout = 0.2;
  settings.edge_dropout = 0.1;
  settings.epochs = 3;
  Pretrainer one = trainer_for(graph, settings, Kernels::fused, {1});
  while (!one.done()) one.train_epoch();
  for (const int threads : {2, 3, 8}) {
    Pretrainer other = trainer_for(graph, settings, Kernels::fused, {threads});
    while (!other.done()) other.train_epoch();
    expect_same(one.method(), other.method());
  }
}

TEST(Pretrain, SeedsDiffer) {
  const Graph graph = small_graph(30, 10);
  Settings settings = small_settings();
  Pretrainer a = trainer_for(graph, settings);
  settings.seed = 4;
  Pretrainer b = trainer_for(graph, settings);
  EXPECT_NE(a.train_epoch().loss(), b.train_epoch().loss());
}

TEST(Pretrain, ALossThatIsNotFiniteNamesTheEpoch) {
  const Graph graph = small_graph(30, 10);
  Settings settings = small_settings();
  settings.optimizer = OptimizerKind::sgd;
  settings.schedule = Schedule::constant;
  settings.feature_loss = FeatureLoss::mse;
  Pretrainer trainer = trainer_for(graph, settings);
  trainer.train_epoch();
  const torch::NoGradGuard no_grad;
  const Decoder decoder = dynamic_cast<GraphPae&>(trainer.method()).feature_decoder;
  decoder->out->bias.fill_(std::numeric_limits<float>::infinity());
  const torch::Tensor before = decoder->out->weight.clone();
  {
    const torch::AutoGradMode gradients(true);
    EXPECT_ERROR(trainer.train_epoch(), ErrorKind::numerical, "epoch 2 is not finite");
  }
  EXPECT_TRUE(same_bits(before, decoder->out->weight));
  EXPECT_EQ(trainer.epoch(), 1);
}

TEST(Pretrain, ForeignAndDamagedCheckpointsAreRefused) {
  const Graph graph = small_graph(30, 10);
  Settings settings = small_settings();
  const TempDir dir;
  Pretrainer trainer = trainer_for(graph, settings);
  trainer.train_epoch();
  const std::string path = dir / "c.safetensors";
  trainer.save(path, "data");
  EXPECT_DATA_ERROR(trainer.restore(path, "other data"), "belongs to other data");
  Settings others = settings;
  others.lr *= 2;
  Pretrainer other = trainer_for(graph, others);
  EXPECT_USAGE_ERROR(other.restore(path, "data"), "other settings");

  const std::string bytes = test::slurp(path);
  for (const size_t cut : {bytes.size() - 1, bytes.size() / 2, size_t{4}, size_t{0}}) {
    dir.write("cut", bytes.substr(0, cut));
    EXPECT_THROW(trainer.restore(dir / "cut", "data"), DamagedCheckpoint) << cut;
  }
  std::string flipped = bytes;
  flipped[bytes.size() - 100] ^= 1;
  dir.write("flipped", flipped);
  EXPECT_DATA_ERROR(trainer.restore(dir / "flipped", "data"), "checksum differs");
}

TEST(RunDirectory, KeepsTwoCheckpointsAndSkipsADamagedOne) {
  const TempDir dir;
  const Graph graph = small_graph(30, 10);
  const Settings settings = small_settings();
  Pretrainer trainer = trainer_for(graph, settings);
  RunDirectory run = RunDirectory::create(dir / "run", false);
  for (int k = 0; k < 4; ++k) {
    trainer.train_epoch();
    run.save_checkpoint(trainer, "data");
  }
  EXPECT_FALSE(fs::exists(dir / "run/checkpoints/epoch-00000002.safetensors"));
  EXPECT_TRUE(fs::exists(dir / "run/checkpoints/epoch-00000003.safetensors"));
  const std::string last = dir / "run/checkpoints/epoch-00000004.safetensors";
  fs::resize_file(last, fs::file_size(last) - 7);
  std::vector<std::string> notes;
  Pretrainer again = trainer_for(graph, settings);
  EXPECT_TRUE(run.restore_checkpoint(again, "data", notes));
  EXPECT_EQ(again.epoch(), 3);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("epoch-00000004"), std::string::npos);
}

TEST(RunDirectory, MetricsAreRewound) {
  const TempDir dir;
  RunDirectory run = RunDirectory::create(dir / "run", false);
  for (int64_t epoch = 1; epoch <= 4; ++epoch)
    run.append({epoch,
                {{"loss", 0.5 / static_cast<double>(epoch)}, {"loss_feature", 0.1}, {"loss_position", std::nan("")}},
                1e-3,
                0.25});
  dir.write("run/half", "");
  {
    std::ofstream file(dir / "run/metrics.jsonl", std::ios::app);
    file << "{\"epoch\":5,\"lo";
  }
  const auto kept = run.rewind_metrics(3);
  ASSERT_EQ(kept.size(), 3u);
  EXPECT_EQ(kept[1].loss(), 0.25);
  EXPECT_EQ(kept[1].terms.size(), 3u);
  EXPECT_EQ(kept[1].lr, 1e-3);
  EXPECT_TRUE(std::isnan(kept[1].term("loss_position")));
  EXPECT_EQ(kept[2].seconds, 0.25);
  const std::string text = test::slurp(dir / "run/metrics.jsonl");
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 3);
}

TEST(RunDirectory, TakesThePlaceOfARunKilledBeforeItBegan) {
  const TempDir dir;
  fs::create_directories(dir / "run/checkpoints");
  write_file(dir / "run/config.yaml.partial-17", "epochs");
  RunDirectory::create(dir / "run", false);
  EXPECT_FALSE(fs::exists(dir / "run/config.yaml.partial-17"));
  write_file(dir / "run/mine.txt", "");
  EXPECT_USAGE_ERROR(RunDirectory::create(dir / "run", false), "exists and is not empty");
}

TEST(RunDirectory, IsNotOverwritten) {
  const TempDir dir;
  dir.write("run/config.yaml", "epochs: 3\n");
  dir.write("run/mine.txt", "keep");
  EXPECT_USAGE_ERROR(RunDirectory::create(dir / "run", false), "--resume goes on with it, --force starts anew");
  EXPECT_EQ(RunDirectory::open(dir / "run").settings().epochs, 3);
  RunDirectory::create(dir / "run", true);
  EXPECT_FALSE(fs::exists(dir / "run/config.yaml"));
  EXPECT_TRUE(fs::exists(dir / "run/mine.txt"));
  EXPECT_DATA_ERROR(RunDirectory::open(dir / "nowhere"), "no run directory");
}

TEST(ModelFile, RoundTrip) {
  const TempDir dir;
  const Graph graph = small_graph(30, 10);
  Settings settings = small_settings();
  settings.epochs = 2;
  const auto model = pretrain(graph, settings);
  save_model(dir / "m", *model, "A card.");
  const auto loaded = load_model(dir / "m");
  expect_same(*model, *loaded);
  EXPECT_TRUE(same_bits(embed(*model, graph), embed(*loaded, graph)));
  EXPECT_NE(test::slurp(dir / "m/README.md").find("A card."), std::string::npos);
  EXPECT_DATA_ERROR(embed(*loaded, small_graph(30, 11)), "trained on 10 features per node, the data have 11");
  EXPECT_DATA_ERROR(load_model(dir / "nothing"), "neither a run directory nor a model directory");
  dir.write("m/config.json", "{\"format\": 3}");
  EXPECT_DATA_ERROR(load_model(dir / "m"), "not the configuration of a graphpae model");
}

TEST(Optimiser, AdamByHand) {
  torch::Tensor p = torch::tensor({1.0, -2.0}, torch::kFloat64).requires_grad_(true);
  Optimiser optimiser(OptimizerKind::adam, 0.1, {{"p", p}});
  std::vector<double> first(2, 0), second(2, 0), expected = {1.0, -2.0};
  for (int t = 1; t <= 3; ++t) {
    optimiser.clear_gradients();
    (p * p * p).sum().backward();
    optimiser.step(0.05);
    for (int k = 0; k < 2; ++k) {
      const double g = 3 * expected[k] * expected[k] + 0.1 * expected[k];
      first[k] = 0.9 * first[k] + 0.1 * g;
      second[k] = 0.999 * second[k] + 0.001 * g * g;
      expected[k] -=
          0.05 * (first[k] / (1 - std::pow(0.9, t))) / (std::sqrt(second[k] / (1 - std::pow(0.999, t))) + 1e-8);
      EXPECT_NEAR(p[k].item<double>(), expected[k], 1e-12);
    }
  }
}

TEST(Optimiser, Schedule) {
  Settings settings;
  settings.epochs = 12;
  settings.warmup = 2;
  settings.lr = 0.1;
  EXPECT_NEAR(learning_rate(settings, 0), 0.05, 1e-15);
  EXPECT_NEAR(learning_rate(settings, 1), 0.1, 1e-15);
  EXPECT_NEAR(learning_rate(settings, 2), 0.1, 1e-15);
  EXPECT_NEAR(learning_rate(settings, 7), 0.05, 1e-15);
  EXPECT_NEAR(learning_rate(settings, 12), 0, 1e-15);
  settings.schedule = Schedule::constant;
  EXPECT_EQ(learning_rate(settings, 11), 0.1);
}

TEST(Optimiser, RestartsBeginTheCosineAnew) {
  Settings short_run, settings;
  short_run.epochs = 12;
  short_run.warmup = 2;
  short_run.lr = 0.1;
  settings = short_run;
  prolong(settings, 22);
  EXPECT_EQ(settings.restarts, std::vector<int64_t>{12});
  check(settings);
  for (int64_t epoch = 0; epoch < 12; ++epoch)
    EXPECT_EQ(learning_rate(settings, epoch), learning_rate(short_run, epoch)) << epoch;
  EXPECT_EQ(learning_rate(settings, 12), 0.1);  // without warm-up
  EXPECT_NEAR(learning_rate(settings, 17), 0.05, 1e-15);
  EXPECT_LT(learning_rate(settings, 21), 0.003);
  // What goes on from where: only what had the same rates.
  EXPECT_TRUE(extends(settings, short_run, 12));
  EXPECT_TRUE(extends(settings, short_run, 5));
  EXPECT_TRUE(extends(short_run, settings, 12));
  EXPECT_FALSE(extends(short_run, settings, 13));
  Settings longer = short_run;
  longer.epochs = 22;
  EXPECT_FALSE(extends(longer, short_run, 5));
  EXPECT_TRUE(extends(longer, short_run, 2));  // warm-up only
  longer.width *= 2;
  EXPECT_FALSE(extends(longer, short_run, 0));
  settings.schedule = short_run.schedule = Schedule::constant;
  settings.restarts.clear();
  EXPECT_TRUE(extends(settings, short_run, 12));
  prolong(short_run, 40);
  EXPECT_TRUE(short_run.restarts.empty());
  // The names of earlier versions.
  EXPECT_EQ(settings_from_yaml("schedule: none\n", "old").schedule, Schedule::constant);
  EXPECT_NE(to_yaml(short_run).find("schedule: constant\n"), std::string::npos);
  EXPECT_USAGE_ERROR(settings_from_yaml("schedule: linear\n", "new"), "is not one of constant|cosine");
}

}  // namespace
}  // namespace graphpae
