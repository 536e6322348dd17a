#include "graphpae/settings/default_settings.h"

#include <gtest/gtest.h>

#include "graphpae/core/rng.h"
#include "graphpae/settings/recipes.h"

namespace graphpae {
namespace {

Graph random_graph(int32_t nodes, int64_t edges) {
  const Rng rng(1);
  GraphParts parts;
  parts.num_nodes = nodes;
  Buffer<Edge> list;
  for (int64_t k = 0; k < edges; ++k)
    list.push_back({static_cast<int32_t>(rng.below(2 * k, nodes)), static_cast<int32_t>(rng.below(2 * k + 1, nodes))});
  parts.edges.push_back(std::move(list));
  return Graph(std::move(parts));
}

// Below 10,000 nodes training takes less than a minute.
TEST(DefaultSettings, EpochsFollowTheSizeOfTheGraph) {
  for (const auto& [nodes, edges] :
       {std::pair<int32_t, int64_t>{34, 78}, {2708, 5278}, {9999, 50000}, {9999, 900000}}) {
    const Graph graph = random_graph(nodes, edges);
    const Settings chosen = default_settings(graph);
    EXPECT_LT(static_cast<double>(chosen.epochs) * epoch_seconds(graph, chosen.width), 50) << nodes;
    EXPECT_GE(chosen.epochs, 10);
    EXPECT_NO_THROW(check(chosen));
    EXPECT_LT(chosen.eigenvectors, nodes);
  }
  EXPECT_EQ(default_settings(random_graph(2708, 5278)).epochs, 300);
  EXPECT_LT(default_settings(random_graph(9999, 900000)).epochs, 100);
  EXPECT_EQ(default_settings(random_graph(20000, 2000000)).epochs, 50);
  EXPECT_EQ(default_settings(random_graph(20, 30)).eigenvectors, 18);
}

TEST(DefaultSettings, ChooseWhatPeoplesDataNeed) {
  const Settings chosen = default_settings(random_graph(100, 300));
  EXPECT_EQ(chosen.node_features, FeatureSource::automatic);
  EXPECT_EQ(chosen.scale, Scale::automatic);
  EXPECT_TRUE(chosen.drop_constant);
  EXPECT_TRUE(chosen.skip_zero_eigenvalues);
  EXPECT_NE(describe_defaults(chosen).find("width 256, 2 layers, 300 epochs, mask_ratio 0.5"), std::string::npos)
      << describe_defaults(chosen);
}

// Of a recipe only the features, positions and epochs change.
TEST(DefaultSettings, LeaveTheRestOfARecipe) {
  const Settings recipe = recipe_settings("graphmae"), chosen = default_settings(random_graph(100, 300), recipe);
  EXPECT_EQ(chosen.width, recipe.width);
  EXPECT_EQ(chosen.mask_ratio, recipe.mask_ratio);
  EXPECT_TRUE(chosen.row_normalize);
  EXPECT_EQ(chosen.scale, Scale::none);
  EXPECT_LE(chosen.epochs, 300);
}

}  // namespace
}  // namespace graphpae
