#include "graphpae/methods/graph_pae/corrupt.h"

#include <gtest/gtest.h>
#include <torch/torch.h>

#include <set>

#include "tests/support/small_graph.h"

namespace graphpae {
namespace {

TEST(Corrupt, MasksTheShareAskedFor) {
  Settings settings;
  settings.mask_ratio = 0.3;
  settings.replace_ratio = 0.25;
  settings.noise = 0.01;
  const Corruption c = draw_corruption(1001, 7, settings, Rng(1, 2));
  ASSERT_EQ(c.masked.size(), 300u);  // floor
  const std::set<int32_t> masked(c.masked.begin(), c.masked.end());
  EXPECT_EQ(masked.size(), 300u);
  int64_t tokens = 0, replaced = 0;
  for (int32_t i = 0; i < 1001; ++i) {
    if (!masked.contains(i)) {
      EXPECT_EQ(c.shown[i], i);
    } else if (c.shown[i] == kMaskToken) {
      ++tokens;
    } else {
      ++replaced;
      EXPECT_NE(c.shown[i], i);
      EXPECT_TRUE(c.shown[i] >= 0 && c.shown[i] < 1001);
    }
  }
  EXPECT_EQ(tokens, 225);
  EXPECT_EQ(replaced, 75);
  ASSERT_EQ(c.offsets.sizes(), (std::vector<int64_t>{300, 7}));
  EXPECT_LE(c.offsets.abs().max().item<double>(), 0.01);
  EXPECT_NEAR(c.offsets.mean().item<double>(), 0, 5e-4);
  EXPECT_NEAR(c.offsets.var().item<double>(), 0.01 * 0.01 / 3, 3e-6);
}

TEST(Corrupt, IsAFunctionOfItsGenerator) {
  Settings settings;
  const Corruption a = draw_corruption(100, 3, settings, Rng(1, 2)), b = draw_corruption(100, 3, settings, Rng(1, 2)),
                   c = draw_corruption(100, 3, settings, Rng(1, 3));
  EXPECT_EQ(a.masked, b.masked);
  EXPECT_TRUE(test::same_bits(a.offsets, b.offsets));
  EXPECT_NE(a.masked, c.masked);
  EXPECT_FALSE(test::same_bits(a.offsets, c.offsets));
}

TEST(Corrupt, DistancesInBothPrecisions) {
  const Graph graph = test::small_graph(40, 3);
  const Settings settings = test::small_settings();
  InputOptions options;
  const GraphInput single = make_input(graph, settings, options), precise = test::in_float64(graph, settings);
  const Corruption c = draw_corruption(40, 5, settings, Rng(4));
  const torch::Tensor a = corrupted_distances(single, c), b = corrupted_distances(precise, c);
  EXPECT_GT(test::largest_difference(b, precise.distances), 1e-3);
  EXPECT_LT(test::largest_difference(a, b), 1e-6);
  // By hand, for the first edge out of a masked node.
  const EdgeIndex& edges = *precise.graph.index;
  torch::Tensor shaken = precise.positions.clone();
  for (size_t m = 0; m < c.masked.size(); ++m) shaken[c.masked[m]] += c.offsets[m];
  for (int64_t e = 0; e < edges.num_edges(); ++e) {
    const double expected = (shaken[edges.sources()[e]] - shaken[edges.targets()[e]]).norm().item<double>();
    EXPECT_NEAR(b[e].item<double>(), expected, 1e-12);
  }
}

}  // namespace
}  // namespace graphpae
