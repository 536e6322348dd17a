#include "graphpae/settings/feature_plan.h"

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "graphpae/core/rng.h"
#include "graphpae/settings/feature_columns.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

using Notes = std::vector<std::string>;

// A ring of n nodes with features [n, values / n], or none.
Graph ring(int32_t nodes, Buffer<float> values = {}, std::vector<std::string> names = {}) {
  GraphParts parts;
  parts.num_nodes = nodes;
  Buffer<Edge> edges;
  for (int32_t i = 0; i < nodes; ++i) edges.push_back({i, (i + 1) % nodes});
  parts.edges.push_back(std::move(edges));
  const auto columns = static_cast<int64_t>(values.size()) / nodes;
  if (columns > 0) parts.features = Features::dense(nodes, columns, std::move(values));
  parts.feature_names = std::move(names);
  return Graph(std::move(parts));
}

// Three columns of scales 1, 1000 and 0.001.
Graph scales(int32_t nodes) {
  const Rng rng(3);
  Buffer<float> values;
  for (int32_t i = 0; i < nodes; ++i) {
    for (const double scale : {1.0, 1000.0, 0.001})
      values.push_back(static_cast<float>(scale * (5 + rng.normal(values.size()))));
  }
  return ring(nodes, std::move(values));
}

Settings small() {
  Settings settings;
  settings.structure_walks = 4;
  settings.structure_positions = 3;
  settings.structure_neighbours = 8;
  return settings;
}

std::shared_ptr<const Graph> learnt(const Graph& graph, const Settings& settings, Notes* said = nullptr) {
  Notes notes;
  auto seen = follow(fit_features(graph, settings, notes), graph, notes);
  if (said != nullptr) *said = notes;
  return seen;
}

TEST(FeaturePlan, NothingChangesUnlessItIsAskedFor) {
  const Graph graph = scales(8);
  Notes notes;
  EXPECT_EQ(fit_features(graph, Settings(), notes), nullptr);
  const auto seen = follow(nullptr, graph, notes);
  EXPECT_EQ(seen.get(), &graph);
  EXPECT_TRUE(notes.empty());
  // What a configuration without these keys means: features as they are.
  const Settings old = settings_from_yaml("epochs: 3\n", "old");
  EXPECT_EQ(old.scale, Scale::none);
  EXPECT_FALSE(old.drop_constant);
}

TEST(FeaturePlan, StandardColumnsHaveMeanZeroAndDeviationOne) {
  const Graph graph = scales(50);
  Settings settings;
  settings.scale = Scale::automatic;
  Notes notes;
  choose_features(settings, graph, notes);
  EXPECT_EQ(settings.scale, Scale::standard);
  EXPECT_EQ(settings.node_features, FeatureSource::given);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("scale=none"), std::string::npos);
  const auto seen = learnt(graph, settings);
  for (const ColumnFacts& column : column_facts(seen->features())) {
    EXPECT_NEAR(column.mean, 0, 1e-5);
    EXPECT_NEAR(column.deviation, 1, 1e-5);
  }
}

// Another graph is scaled as the one that was learnt from.
TEST(FeaturePlan, IsFittedOnceAndFollowed) {
  const Graph graph = ring(4, {0, 2, 4, 6}), other = ring(3, {3, 3, 13});
  Settings settings;
  settings.scale = Scale::standard;
  Notes notes;
  const auto plan = fit_features(graph, settings, notes);
  const auto read =
      std::make_shared<const FeaturePlan>(feature_plan_from(nlohmann::ordered_json::parse(to_json(*plan).dump())));
  const auto seen = follow(read, other, notes);
  const double deviation = std::sqrt(5.0);
  EXPECT_FLOAT_EQ(seen->features().dense_row(0)[0], 0);
  EXPECT_FLOAT_EQ(seen->features().dense_row(2)[0], static_cast<float>(10 / deviation));
  EXPECT_DATA_ERROR(follow(plan, ring(3, Buffer<float>(6, 1.0f)), notes),
                    "trained on 1 features per node, the data have 2");
}

TEST(FeaturePlan, AutomaticScaleLeavesBitsCountsAndSparseFeatures) {
  const auto chosen = [](const Graph& graph, bool rows = false) {
    Settings settings;
    settings.scale = Scale::automatic;
    settings.row_normalize = rows;
    Notes notes;
    choose_features(settings, graph, notes);
    return settings.scale;
  };
  EXPECT_EQ(chosen(ring(4, {0, 1, 1, 1, 1, 0, 1, 1})), Scale::none);          // bits
  EXPECT_EQ(chosen(ring(4, {0, 7, 3, 0, 0, 1, 2, 0})), Scale::none);          // counts, half of them 0
  EXPECT_EQ(chosen(ring(4, {30, 7, 31, 9, 40, 1, 55, 2})), Scale::standard);  // whole numbers, few of them 0
  EXPECT_EQ(chosen(ring(4, {0.5, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0})), Scale::none);
  EXPECT_EQ(chosen(scales(10), true), Scale::none);  // row_normalize was asked for
  EXPECT_EQ(chosen(scales(10)), Scale::standard);
}

TEST(FeaturePlan, StandardLeavesColumnsOfBits) {
  Settings settings;
  settings.scale = Scale::standard;
  const auto seen = learnt(ring(4, {0, 10, 1, 20, 1, 30, 0, 40}), settings);
  EXPECT_EQ(seen->features().dense_row(1)[0], 1);
  EXPECT_EQ(seen->features().dense_row(3)[0], 0);
  EXPECT_FLOAT_EQ(seen->features().dense_row(0)[1], static_cast<float>(-15 / std::sqrt(125.0)));
}

TEST(FeaturePlan, ConstantColumnsAreLeftOutByName) {
  const Graph graph = ring(3, {7, 1, 0, 2, 7, 2, 0, 3, 7, 3, 0, 5}, {"year", "a", "empty", "b"});
  Settings settings;
  settings.drop_constant = true;
  Notes notes;
  const auto seen = learnt(graph, settings, &notes);
  EXPECT_EQ(seen->features().columns(), 2);
  EXPECT_EQ(seen->feature_names(), (std::vector<std::string>{"a", "b"}));
  EXPECT_EQ(seen->features().dense_row(2)[1], 5);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("2 of 4 feature columns are the same for all nodes and left out: year, empty"),
            std::string::npos)
      << notes[0];
}

TEST(FeaturePlan, FeaturesThatSayNothingGiveWayToStructure) {
  const auto chosen = [](const Graph& graph, Notes& notes) {
    Settings settings = small();
    settings.scale = Scale::automatic;
    settings.row_normalize = true;
    choose_features(settings, graph, notes);
    EXPECT_EQ(settings.node_features, FeatureSource::structure);
    EXPECT_FALSE(settings.row_normalize);
    return learnt(graph, settings);
  };
  Notes none, same, zero;
  const auto bare = chosen(ring(20), none);
  EXPECT_NE(none.at(0).find("no node features: features are made from the edges"), std::string::npos) << none[0];
  EXPECT_EQ(bare->features().columns(), 3 + 3 + 3 + 8);
  EXPECT_EQ(bare->feature_names().size(), 17u);
  chosen(ring(20, Buffer<float>(40, 2.5f)), same);
  EXPECT_NE(same.at(0).find("all nodes have the same features"), std::string::npos) << same[0];
  chosen(ring(20, Buffer<float>(20, 0.0f)), zero);
  EXPECT_EQ(zero.size(), 1u);
}

TEST(FeaturePlan, StructureIsMadeAgainForTheSameGraphAndNotedForAnother) {
  const Graph graph = ring(30), other = ring(31);
  Settings settings = small();
  Notes notes;
  const auto plan = fit_features(graph, settings, notes);
  const auto first = follow(plan, graph, notes);
  const auto again = follow(std::make_shared<const FeaturePlan>(feature_plan_from(to_json(*plan))), graph, notes);
  EXPECT_TRUE(notes.empty());
  const auto a = first->features().dense_values(), b = again->features().dense_values();
  EXPECT_TRUE(std::equal(a.begin(), a.end(), b.begin(), b.end()));
  follow(plan, other, notes);
  ASSERT_EQ(notes.size(), 1u);
  EXPECT_NE(notes[0].find("rows of this other graph mean something else"), std::string::npos) << notes[0];
}

TEST(FeaturePlan, BothStandSideBySide) {
  Settings settings = small();
  settings.node_features = FeatureSource::both;
  settings.row_normalize = true;
  const Graph graph = ring(4, {1, 3, 2, 2, 0, 5, 4, 4});
  const auto seen = learnt(graph, settings);
  EXPECT_EQ(seen->features().columns(), 2 + 17);
  EXPECT_FLOAT_EQ(seen->features().dense_row(0)[1], 0.75f);  // divided by the sum of the given ones
  EXPECT_FALSE(divides_rows(settings, *seen));               // and not once more
  EXPECT_TRUE(divides_rows(settings, graph));

  GraphParts parts;
  parts.num_nodes = 3;
  parts.edges.push_back({{0, 1}, {1, 2}});
  parts.features = Features::sparse(3, 9, {0, 1, 1, 2}, {4, 8}, {1, 2});
  settings.row_normalize = false;
  const auto sparse = learnt(Graph(std::move(parts)), settings);
  EXPECT_TRUE(sparse->features().is_sparse());
  EXPECT_EQ(sparse->features().columns(), 9 + 17);
  EXPECT_EQ(sparse->features().sparse_row(2).values[0], 2);
}

TEST(FeaturePlan, RefusesWhatIsNotThere) {
  Settings settings;
  settings.node_features = FeatureSource::given;
  Notes notes;
  EXPECT_DATA_ERROR(choose_features(settings, ring(5), notes), "no node features; --features names a file");
  EXPECT_DATA_ERROR(fit_features(ring(5), settings, notes), "node_features=structure");
  settings.drop_constant = true;
  EXPECT_DATA_ERROR(fit_features(ring(5, Buffer<float>(5, 1.0f)), settings, notes), "all feature columns are constant");
  for (const char* text :
       {"{}", "{\"columns\": 3}", "{\"columns\":2,\"dropped\":[5],\"divide_rows\":false,\"shift\":[],\"factor\":[]}"})
    EXPECT_DATA_ERROR(feature_plan_from(nlohmann::ordered_json::parse(text)), "does not say how features are made");
}

}  // namespace
}  // namespace graphpae
