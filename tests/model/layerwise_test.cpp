#include "graphpae/model/layerwise.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "graphpae/core/memory.h"
#include "graphpae/data/generate.h"
#include "graphpae/model/embed.h"
#include "graphpae/ops/tensor_memory.h"
#include "graphpae/train/pretrain.h"
#include "tests/support/expect_error.h"
#include "tests/support/small_graph.h"

namespace graphpae {
namespace {

using test::largest_difference;
using test::same_bits;

// More nodes than a block has, a hub, isolated nodes.
const Graph& large_graph() {
  static const Graph graph = [] {
    GenerateOptions options;
    options.nodes = 9000;
    options.edges = 40000;
    options.features = 30;
    options.words = 5;
    options.isolated = 4;
    return generate(options, {2});
  }();
  return graph;
}

Settings large_settings(bool positions) {
  Settings settings = test::small_settings();
  settings.layers = 3;
  settings.use_positions = positions;
  return settings;
}

torch::Tensor layerwise(Model& model, const PreparedGraph& graph, int64_t memory) {
  torch::Tensor rows = torch::full({graph.graph->num_nodes(), model.settings().width}, -1.0f);
  int64_t next = 0, last_done = 0, last_total = 1;
  const auto progress = [&](int64_t done, int64_t total) {
    EXPECT_GT(done, last_done);
    last_done = done;
    last_total = total;
  };
  const auto take = [&](int64_t first, int64_t count, const float* values) {
    EXPECT_EQ(first, next);
    next += count;
    std::copy_n(values, count * rows.size(1), rows.data_ptr<float>() + first * rows.size(1));
  };
  embed_layerwise(model, graph, memory, take, progress);
  EXPECT_EQ(next, rows.size(0));
  EXPECT_EQ(last_done, last_total);
  return rows;
}

TEST(Layerwise, IsExactInAnyMemory) {
  const Graph& graph = large_graph();
  for (const bool positions : {true, false}) {
    const Settings settings = large_settings(positions);
    Model model(settings, input_shape(graph));
    model.eval();
    const PreparedGraph prepared = prepare(graph, settings);
    const torch::Tensor whole = model.embed(whole_input(prepared));
    const torch::Tensor free = layerwise(model, prepared, int64_t{1} << 33);
    EXPECT_LT(largest_difference(free, whole), 5e-6 * whole.abs().max().item<double>());
    for (const int64_t heads : {1, 3, 4}) {
      const int64_t memory = layerwise_bytes(graph.num_nodes(), settings, heads);
      EXPECT_TRUE(same_bits(layerwise(model, prepared, memory), free)) << heads;
    }
    PreparedGraph alone = prepared;
    alone.threads = {1};
    EXPECT_TRUE(same_bits(layerwise(model, alone, int64_t{1} << 33), free));
    EXPECT_THROW(layerwise(model, prepared, layerwise_bytes(graph.num_nodes(), settings, 1) - 1), Error);
  }
}

TEST(Layerwise, IsChosenWhereTheWholeDoesNotFit) {
  GenerateOptions size;
  size.nodes = 30000;
  size.edges = 60000;
  size.features = 30;
  const Graph graph = generate(size, {2});
  Settings settings = large_settings(false);
  settings.layers = 2;
  settings.width = 1024;
  Model model(settings, input_shape(graph));
  const PreparedGraph prepared = prepare(graph, settings);
  int64_t calls = 0;
  EmbedOptions options;
  options.progress = [&](int64_t, int64_t) { ++calls; };
  const torch::Tensor whole = embed(model, prepared, options);
  EXPECT_EQ(calls, 0);
  const double largest = whole.abs().max().item<double>();
  // One head needs 220 MB, the whole 500 MB.
  options.memory = resident_memory() - kept_tensor_memory() + 350'000'000;
  EXPECT_LT(largest_difference(embed(model, prepared, options), whole), 1e-5 * largest);
  EXPECT_GT(calls, 0);
  options.memory = 1;
  EXPECT_THROW(embed(model, prepared, options), Error);
  Settings other = settings;
  other.attention = Attention::paper;
  EXPECT_FALSE(can_embed_layerwise(Model(other, input_shape(graph))));
}

}  // namespace
}  // namespace graphpae
