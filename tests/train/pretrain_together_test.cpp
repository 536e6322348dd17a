// Several ranks against one: the same settings, the same data, the same parameters in the end.
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "graphpae/model/named_tensors.h"
#include "graphpae/settings/streams.h"
#include "graphpae/train/pretrain.h"
#include "tests/support/expect_error.h"
#include "tests/support/ranks.h"
#include "tests/support/shards.h"
#include "tests/support/small_graph.h"
#include "tests/support/small_molecules.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using test::as_ranks;
using ProcessesPtr = std::shared_ptr<Processes>;

// Plain gradient descent: a parameter whose gradient is rounding alone, such as a bias before a normalisation, moves by
// rounding alone.
Settings without_chance(Settings settings) {
  settings.dropout = settings.edge_dropout = settings.replace_ratio = 0;
  settings.optimizer = OptimizerKind::sgd;
  settings.lr = 0.05;
  return settings;
}

InputOptions rank_options(Kernels kernels) {
  InputOptions options;
  options.kernels = kernels;
  options.threads = {1};
  return options;
}

struct Trained {
  NamedTensors tensors;
  double loss = 0;
};

template <class Input>
Trained train(const Input& input, const InputShape& shape, const Settings& settings, int64_t steps,
              ProcessesPtr processes) {
  Pretrainer trainer(input, shape, settings, std::move(processes));
  Trained trained;
  for (int64_t step = 0; step < steps; ++step) {
    if (const auto epoch = trainer.train_step()) trained.loss = epoch->loss();
  }
  if (steps < trainer.steps_per_epoch()) trained.loss = trainer.loss_so_far();
  for (const auto& [name, tensor] : named_tensors(trainer.method()))
    trained.tensors.emplace_back(name, tensor.detach().clone());
  return trained;
}

void expect_near(const Trained& found, const Trained& expected) {
  EXPECT_NEAR(found.loss, expected.loss, 1e-5 * std::abs(expected.loss));
  ASSERT_EQ(found.tensors.size(), expected.tensors.size());
  for (size_t k = 0; k < found.tensors.size(); ++k) {
    EXPECT_LT(test::largest_difference(found.tensors[k].second, expected.tensors[k].second), 2e-5)
        << found.tensors[k].first;
  }
}

// `prepared()`: the input, made for each rank.
template <class Prepared>
void compare(const Prepared& prepared, const InputShape& shape, const Settings& settings, int64_t steps, int ranks) {
  const Trained start = train(prepared(), shape, settings, 0, nullptr);
  const Trained alone = train(prepared(), shape, settings, steps, nullptr);
  std::vector<Trained> together(static_cast<size_t>(ranks));
  as_ranks(ranks, [&](const ProcessesPtr& processes) {
    together[static_cast<size_t>(processes->rank())] = train(prepared(), shape, settings, steps, processes);
  });
  double moved = 0;
  for (size_t k = 0; k < start.tensors.size(); ++k)
    moved = std::max(moved, test::largest_difference(start.tensors[k].second, alone.tensors[k].second));
  EXPECT_GT(moved, 1e-2);
  expect_near(together[0], alone);
  for (const Trained& other : together) {
    for (size_t k = 0; k < other.tensors.size(); ++k) {
      EXPECT_TRUE(test::same_bits(other.tensors[k].second, together[0].tensors[k].second)) << other.tensors[k].first;
    }
  }
}

TEST(PretrainTogether, MoleculesAreDivided) {
  const GraphSet set = test::random_molecules(21);  // the last batch has one molecule
  for (const Kernels kernels : {Kernels::fused, Kernels::reference}) {
    const Settings settings = without_chance(test::small_molecule_settings());
    compare([&] { return prepare(set, settings, rank_options(kernels)); }, input_shape(set), settings, 15, 2);
  }
}

TEST(PretrainTogether, ShardsAreDivided) {
  const test::TempDir dir;
  const Settings settings = without_chance(test::small_molecule_settings());
  test::write_shards(dir / "shards", test::random_molecules(23), settings, 4);
  const ShardSet shards(dir / "shards");
  compare([&] { return prepare(shards, settings, rank_options(Kernels::fused)); }, input_shape(shards), settings, 11,
          2);
}

TEST(PretrainTogether, PartsWithoutMaskedAtoms) {
  Settings settings = without_chance(test::small_molecule_settings());
  settings.mask_ratio = 0.03;  // one atom of a batch, which three ranks divide
  const GraphSet set = test::random_molecules(20);
  compare([&] { return prepare(set, settings, rank_options(Kernels::fused)); }, input_shape(set), settings, 12, 3);
}

// Paths of four nodes, so that seeds of two ranks are seldom neighbours.
Graph paths(int32_t count) {
  GraphParts parts;
  parts.num_nodes = 4 * count;
  Buffer<Edge> edges;
  for (int32_t c = 0; c < count; ++c) {
    for (int32_t i = 0; i < 3; ++i) edges.push_back({4 * c + i, 4 * c + i + 1});
  }
  parts.edges.push_back(std::move(edges));
  const Rng rng(2);
  Buffer<float> values(static_cast<size_t>(parts.num_nodes) * 10);
  for (size_t k = 0; k < values.size(); ++k) values[k] = static_cast<float>(rng.uniform(k));
  parts.features = Features::dense(parts.num_nodes, 10, std::move(values));
  return Graph(std::move(parts));
}

// Whether two ranks have seeds of one path in one of the first steps.
bool ranks_meet(const Settings& settings, int64_t nodes, int64_t steps) {
  const auto order = stream_of(settings, Stream::order, 0).permutation(static_cast<int32_t>(nodes));
  const int64_t batch = settings.batch_size, half = batch / 2;
  for (int64_t step = 0; step < steps; ++step) {
    for (int64_t a = 0; a < half; ++a) {
      for (int64_t b = half; b < batch; ++b) {
        if (order[step * batch + a] / 4 == order[step * batch + b] / 4) return true;
      }
    }
  }
  return false;
}

TEST(PretrainTogether, SamplesAreDivided) {
  const Graph graph = paths(60);
  Settings settings = without_chance(test::small_settings());
  settings.batch_size = 6;
  settings.row_normalize = false;
  constexpr int64_t kSteps = 5;
  while (ranks_meet(settings, graph.num_nodes(), kSteps)) ++settings.seed;
  for (const Kernels kernels : {Kernels::fused, Kernels::reference}) {
    compare([&] { return prepare(graph, settings, rank_options(kernels)); }, input_shape(graph), settings, kSteps, 2);
  }
}

TEST(PretrainTogether, WholeGraphsAreNot) {
  const Graph graph = paths(3);
  const Settings settings = without_chance(test::small_settings());
  as_ranks(2, [&](const ProcessesPtr& processes) {
    EXPECT_USAGE_ERROR(
        Pretrainer(prepare(graph, settings, rank_options(Kernels::fused)), input_shape(graph), settings, processes),
        "a whole graph in a step needs batch_size");
  });
}

// A checkpoint of two ranks, gone on with by three, is where one rank alone would be.
TEST(PretrainTogether, GoesOnWithAnotherNumberOfRanks) {
  const GraphSet set = test::random_molecules(21);
  const Settings settings = without_chance(test::small_molecule_settings());
  const test::TempDir dir;
  const auto prepared = [&] { return prepare(set, settings, rank_options(Kernels::fused)); };
  const Trained alone = train(prepared(), input_shape(set), settings, 13, nullptr);
  as_ranks(2, [&](const ProcessesPtr& processes) {
    Pretrainer trainer(prepared(), input_shape(set), settings, processes);
    for (int step = 0; step < 7; ++step) trainer.train_step();
    if (processes->rank() == 0) trainer.save(dir / "c.safetensors", "data");
  });
  std::vector<Trained> together(3);
  as_ranks(3, [&](const ProcessesPtr& processes) {
    Pretrainer trainer(prepared(), input_shape(set), settings, processes);
    if (processes->rank() == 0) trainer.restore(dir / "c.safetensors", "data");
    trainer.follow_first();
    EXPECT_EQ(trainer.epoch(), 1);
    EXPECT_EQ(trainer.step(), 2);
    Trained& trained = together[static_cast<size_t>(processes->rank())];
    for (int step = 0; step < 6; ++step) trainer.train_step();
    trained.loss = trainer.loss_so_far();
    for (const auto& [name, tensor] : named_tensors(trainer.method()))
      trained.tensors.emplace_back(name, tensor.detach().clone());
  });
  for (Trained& trained : together) {
    trained.loss = alone.loss;  // of another epoch
    expect_near(trained, alone);
  }
}

}  // namespace
}  // namespace graphpae
