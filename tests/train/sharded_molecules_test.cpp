// Batches from shards, and training on them.
#include "graphpae/train/sharded_molecules.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <set>

#include "graphpae/train/pretrain.h"
#include "tests/support/expect_error.h"
#include "tests/support/shards.h"
#include "tests/support/small_graph.h"
#include "tests/support/small_molecules.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using test::same_bits;
using test::TempDir;

constexpr int64_t kShardSize = 3;

Settings settings_of(int64_t batch_size = 7, int64_t epochs = 3) {
  Settings settings = test::small_molecule_settings();
  settings.batch_size = batch_size;
  settings.epochs = epochs;
  return settings;
}

std::vector<std::pair<int32_t, int32_t>> pairs(const std::vector<MoleculePlace>& places) {
  std::vector<std::pair<int32_t, int32_t>> list;
  for (const MoleculePlace& place : places) list.emplace_back(place.set, place.molecule);
  return list;
}

TEST(ShardOrder, EveryMoleculeOnceInAnEpoch) {
  const std::vector<int64_t> sizes = {3, 5, 1, 4, 4, 2, 6, 3, 3};  // three windows
  ShardOrder order(sizes, settings_of());
  EXPECT_EQ(order.size(), 31);
  std::set<std::vector<std::pair<int32_t, int32_t>>> different;
  for (int64_t epoch = 0; epoch < 3; ++epoch) {
    const auto all = pairs(order.part(epoch, 0, 31).places);
    const std::set<std::pair<int32_t, int32_t>> distinct(all.begin(), all.end());
    EXPECT_EQ(distinct.size(), 31u);
    for (const auto& [shard, molecule] : distinct) EXPECT_LT(molecule, sizes[shard]);
    different.insert(all);
  }
  Settings other = settings_of();
  other.seed = 4;
  different.insert(pairs(ShardOrder(sizes, other).part(0, 0, 31).places));
  EXPECT_EQ(different.size(), 4u);
}

TEST(ShardOrder, AnyPartWithoutThoseBefore) {
  const std::vector<int64_t> sizes = {3, 5, 1, 4, 4, 2, 6, 3, 3};
  ShardOrder order(sizes, settings_of());
  const auto all = pairs(order.part(1, 0, 31).places);
  for (const auto& [first, count] : {std::pair<int64_t, int64_t>{30, 1}, {0, 5}, {9, 14}, {4, 27}, {17, 3}}) {
    ShardOrder fresh(sizes, settings_of());
    const ShardOrder::Part part = fresh.part(1, first, count);
    EXPECT_EQ(pairs(part.places), (std::vector(all.begin() + first, all.begin() + first + count)));
    EXPECT_EQ(pairs(order.part(1, first, count).places), pairs(part.places));
    // The window holds the shard of the last molecule.
    EXPECT_NE(std::find(part.window.begin(), part.window.end(), part.places.back().set), part.window.end());
  }
  // Windows are mixed: neighbours come from different shards.
  int64_t changes = 0;
  for (size_t i = 1; i < all.size(); ++i) changes += all[i].first != all[i - 1].first;
  EXPECT_GT(changes, 15);
}

void expect_same(const GraphInput& a, const GraphInput& b) {
  EXPECT_EQ(a.graph_offsets, b.graph_offsets);
  EXPECT_TRUE(same_bits(a.graph.sources, b.graph.sources));
  EXPECT_TRUE(same_bits(a.graph.targets, b.graph.targets));
  EXPECT_EQ(a.atoms.kind_of, b.atoms.kind_of);
  EXPECT_TRUE(same_bits(a.atoms.kinds, b.atoms.kinds));
  EXPECT_EQ(a.bonds.kind_of, b.bonds.kind_of);
  EXPECT_TRUE(same_bits(a.bonds.kinds, b.bonds.kinds));
  EXPECT_TRUE(same_bits(a.features.dense(), b.features.dense()));
  EXPECT_TRUE(same_bits(a.positions, b.positions));
  EXPECT_TRUE(same_bits(a.distances, b.distances));
}

class ShardedMoleculesTest : public testing::Test {
 protected:
  ShardedMoleculesTest() { test::write_shards(dir / "s", set, settings_of(), kShardSize); }

  ShardSet shards() const { return ShardSet(dir / "s"); }
  ShardInput input(const Settings& settings, int threads = 2) const {
    InputOptions options;
    options.threads = Threads{threads};
    return prepare(shards(), settings, options);
  }

  TempDir dir;
  GraphSet set = test::random_molecules(40);
};

// Shards hold the molecules in order, so the place of a molecule tells which it is.
TEST_F(ShardedMoleculesTest, BatchesAreThoseOfTheSameMoleculesInMemory) {
  const Settings settings = settings_of();
  const auto in_memory = prepare(set, settings);
  ShardedMolecules batches(input(settings), settings);
  ASSERT_EQ(batches.steps_per_epoch(), 6);
  std::vector<int64_t> sizes(14, kShardSize);
  sizes.back() = 1;
  ShardOrder order(sizes, settings);
  for (int64_t epoch = 0; epoch < 2; ++epoch) {
    for (int64_t step = 0; step < 6; ++step) {
      std::vector<int32_t> chosen;
      for (const MoleculePlace& place : order.part(epoch, step * 7, step < 5 ? 7 : 5).places)
        chosen.push_back(static_cast<int32_t>(place.set * kShardSize + place.molecule));
      expect_same(batches.input(epoch, step), in_memory->batch(chosen));
    }
  }
}

TEST_F(ShardedMoleculesTest, StepsInAnyOrder) {
  const Settings settings = settings_of();
  ShardedMolecules forward(input(settings), settings), jumping(input(settings), settings);
  for (int64_t step = 0; step < 6; ++step) {
    const GraphInput expected = forward.input(1, step);
    expect_same(ShardedMolecules(input(settings), settings).input(1, step), expected);
  }
  const GraphInput last = forward.input(1, 5);
  jumping.input(0, 3);
  expect_same(jumping.input(1, 5), last);
  jumping.input(2, 5);
  expect_same(jumping.input(1, 5), last);
  // All at once, and without positions.
  Settings whole = settings_of(0);
  ShardedMolecules all(input(whole), whole);
  EXPECT_EQ(all.steps_per_epoch(), 1);
  EXPECT_EQ(all.input(0, 0).num_molecules(), 40);
  whole.use_positions = false;
  ShardedMolecules plain(input(whole), whole);
  EXPECT_FALSE(plain.input(0, 0).positions.defined());
}

std::vector<torch::Tensor> parameters(Pretrainer& trainer) {
  std::vector<torch::Tensor> list;
  for (const torch::Tensor& parameter : trainer.method().parameters()) list.push_back(parameter.detach().clone());
  return list;
}

void expect_equal(const std::vector<torch::Tensor>& a, const std::vector<torch::Tensor>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t k = 0; k < a.size(); ++k) EXPECT_TRUE(same_bits(a[k], b[k])) << k;
}

TEST_F(ShardedMoleculesTest, ResumesInsideAnEpochToTheSameBits) {
  Settings settings = settings_of();
  settings.dropout = 0.2;
  const InputShape shape = input_shape(shards());
  Pretrainer whole(input(settings), shape, settings);
  while (!whole.done()) whole.train_step();
  for (const int64_t stop : {1, 9, 12}) {
    Pretrainer first(input(settings), shape, settings);
    for (int64_t step = 0; step < stop; ++step) first.train_step();
    first.save(dir / "c.safetensors", "data");
    Pretrainer second(input(settings, 1), shape, settings);  // and with another number of threads
    second.restore(dir / "c.safetensors", "data");
    EXPECT_EQ(second.step(), stop % 6);
    while (!second.done()) second.train_step();
    expect_equal(parameters(whole), parameters(second));
  }
}

TEST_F(ShardedMoleculesTest, DamageReachesTheOneWhoTrains) {
  const Settings settings = settings_of();
  std::string bytes = test::slurp(dir / "s/shard-00006.bin");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 4);
  dir.write("s/shard-00006.bin", bytes);
  const auto train = [&] {
    Pretrainer trainer(input(settings), input_shape(shards()), settings);
    trainer.train_epoch();
  };
  EXPECT_DATA_ERROR(train(), dir / "s/shard-00006.bin" + ": checksum differs: the file is damaged");
}

TEST_F(ShardedMoleculesTest, SettingsThatDoNotFit) {
  Settings settings = settings_of();
  settings.eigenvectors = 5;
  EXPECT_USAGE_ERROR(input(settings), "the positions of the shards were made with eigenvectors=4, the settings say 5");
  settings = settings_of();
  settings.absolute_positions = false;
  EXPECT_USAGE_ERROR(input(settings), "absolute_positions=true, the settings say false");
  settings.encoder = EncoderKind::gat;
  EXPECT_USAGE_ERROR(input(settings), "molecules need encoder=gated_gcn");
}

}  // namespace
}  // namespace graphpae
