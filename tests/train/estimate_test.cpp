#include "graphpae/train/estimate.h"

#include <gtest/gtest.h>

#include "graphpae/methods/method.h"
#include "tests/support/shards.h"
#include "tests/support/small_graph.h"
#include "tests/support/small_molecules.h"
#include "tests/support/temp_dir.h"

namespace graphpae {
namespace {

using namespace test;

constexpr Threads kThreads{2};

template <class Data>
int64_t parameters_of(const Data& data, const Settings& settings) {
  int64_t count = 0;
  for (const auto& parameter : make_method(settings, input_shape(data))->parameters()) count += parameter.numel();
  return count;
}

// Every setting that gives the method more or fewer tensors counts.
TEST(Estimate, CountsTheParametersOfTheMethod) {
  const Graph graph = small_graph(60, 20);
  for (const auto& [mlp, norm] : {std::pair{false, true}, {true, true}, {false, false}}) {
    Settings settings = small_settings();
    settings.feature_mlp = mlp;
    settings.decoder_norm = norm;
    const Estimate found = estimate(graph, settings, Kernels::fused, kThreads);
    EXPECT_EQ(found.parameters, parameters_of(graph, settings)) << mlp << norm;
    EXPECT_GT(found.seconds, 0);
    EXPECT_GT(found.bytes, 16 * found.parameters);
  }
}

TEST(Estimate, TriesSamplesMoleculesAndShards) {
  const Graph graph = small_graph(60, 20);
  Settings sampled = small_settings();
  sampled.batch_size = 7;
  sampled.fanout = {3, 3};
  EXPECT_GT(estimate(graph, sampled, Kernels::fused, kThreads).seconds, 0);
  EXPECT_GT(estimate(graph, sampled, Kernels::reference, kThreads).seconds, 0);

  const GraphSet set = odd_set();
  const Settings settings = small_molecule_settings();
  EXPECT_EQ(estimate(set, settings, Kernels::fused, kThreads).parameters, parameters_of(set, settings));
  const TempDir dir;
  write_shards(dir / "s", set, settings, 3);
  const ShardSet shards(dir / "s");
  EXPECT_EQ(estimate(shards, settings, Kernels::fused, kThreads).parameters, parameters_of(set, settings));
}

TEST(Estimate, MoreLayersAndPlainOperationsNeedMoreMemory) {
  const Graph graph = small_graph(60, 20);
  Settings settings = small_settings();
  const int64_t small = training_bytes(graph, settings, Kernels::fused);
  settings.layers = 3;
  EXPECT_GT(training_bytes(graph, settings, Kernels::fused), small);
  EXPECT_GT(training_bytes(graph, settings, Kernels::reference), training_bytes(graph, settings, Kernels::fused));
}

// The network that lifts features and the norm of the decoder count.
TEST(Estimate, FormulaKnowsAllOfTheModel) {
  const Graph graph = small_graph(500, 300);
  Settings settings = small_settings();
  settings.width = 256;
  settings.decoder_norm = false;
  const int64_t plain = training_bytes(graph, settings, Kernels::fused);
  settings.decoder_norm = true;
  const int64_t normed = training_bytes(graph, settings, Kernels::fused);
  EXPECT_GT(normed, plain + 4 * 256 * 200);  // rows of the masked nodes
  settings.feature_mlp = true;
  EXPECT_GT(training_bytes(graph, settings, Kernels::fused), normed + 4 * 500 * (300 + 4 * 256));
}

TEST(Estimate, SaysTheLoadItSaw) {
  const Estimate found = estimate(small_graph(60, 20), small_settings(), Kernels::fused, kThreads);
  EXPECT_GE(found.load, 0);
  EXPECT_LT(found.load, 10000);
}

}  // namespace
}  // namespace graphpae
