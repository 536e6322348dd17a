#include "graphpae/data/generate.h"

#include <gtest/gtest.h>

#include "graphpae/data/summary.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

TEST(Generate, IsTheSameForAnyThreadCount) {
  GenerateOptions options;
  options.edges = 600000;  // several blocks
  options.nodes = 5000;
  const std::string one = content_hash(generate(options, Threads{1}));
  EXPECT_EQ(content_hash(generate(options, Threads{2})), one);
  EXPECT_EQ(content_hash(generate(options, Threads{7})), one);
  options.seed = 1;
  EXPECT_NE(content_hash(generate(options, Threads{1})), one);
}

TEST(Generate, ObeysItsOptions) {
  GenerateOptions options;
  options.nodes = 4000;
  options.edges = 40000;
  options.small_components = 6;  // 2+3+4+5+2+3 nodes
  options.isolated = 4;
  const GraphSummary summary = summarise(generate(options, Threads{2}));
  EXPECT_EQ(summary.nodes, 4000 + 19 + 4);
  EXPECT_GE(summary.components, 6 + 4 + 1);
  EXPECT_GE(summary.isolated, 4);
  EXPECT_EQ(summary.edge_rows, 40000 + 13);  // 13 in the small components
  EXPECT_GT(summary.edges, 30000);           // the rest repeats others
  EXPECT_EQ(summary.classes, 5);
  EXPECT_EQ(summary.split_sizes.size(), 10u);
  EXPECT_EQ(summary.split_sizes[0][0], 4023 * 48 / 100);
  EXPECT_NEAR(*summary.edge_homophily, 0.15, 0.02);
}

TEST(Generate, KindsDiffer) {
  const GraphSummary homophilic = summarise(generate(generate_defaults("homophilic"), Threads{1}));
  EXPECT_NEAR(*homophilic.edge_homophily, 0.8, 0.06);
  const GraphSummary structure = summarise(generate(generate_defaults("structure"), Threads{1}));
  EXPECT_EQ(structure.features, 0);
  EXPECT_EQ(structure.classes, 0);
  EXPECT_USAGE_ERROR(generate_defaults("homophylic"), "did you mean 'homophilic'?");
}

TEST(Generate, ExtremesWork) {
  GenerateOptions options;
  options.nodes = 1;
  options.edges = 0;
  EXPECT_EQ(generate(options, Threads{1}).num_nodes(), 1);
  options.nodes = 3;
  options.edges = 100;
  options.communities = 1000;
  options.classes = 1000;
  options.features = 3;
  EXPECT_NO_THROW(generate(options, Threads{2}));
}

TEST(Summary, FindsDuplicatesAndLeaks) {
  // 1 and 2 have the same features and the same neighbour; 3 has another feature.
  GraphParts parts;
  parts.num_nodes = 5;
  parts.edges.push_back({Edge{0, 1}, Edge{0, 2}, Edge{0, 3}});
  parts.features = Features::dense(5, 1, {0, 1, 1, 2, 0});
  parts.labels = {0, 1, 1, 0, kUnlabelled};
  parts.splits = {{{1}, {3}, {0, 2}}};
  const GraphSummary summary = summarise(Graph(std::move(parts)));
  EXPECT_EQ(summary.duplicates.nodes, 2);
  EXPECT_EQ(summary.duplicates.groups, 1);
  EXPECT_EQ(summary.duplicates.test_in_train, 1);
  EXPECT_EQ(summary.isolated, 1);
  EXPECT_EQ(summary.unlabelled, 1);
  EXPECT_DOUBLE_EQ(*summary.edge_homophily, 1.0 / 3);
  EXPECT_EQ(summary.feature_empty_rows, 2);
}

TEST(ContentHash, IgnoresStorageButNotContent) {
  const auto graph = [](Features features, std::vector<Split> splits) {
    GraphParts parts;
    parts.num_nodes = 2;
    parts.edges.push_back({Edge{1, 0}});
    parts.features = std::move(features);
    parts.splits = std::move(splits);
    return Graph(std::move(parts));
  };
  const Graph dense = graph(Features::dense(2, 2, {0, 3, 0, 0}), {});
  const Graph sparse = graph(Features::sparse(2, 2, {0, 1, 1}, {1}, {3}), {});
  const Graph split = graph(Features::dense(2, 2, {0, 3, 0, 0}), {{{0}, {}, {1}}});
  const Graph other = graph(Features::dense(2, 2, {0, 0, 3, 0}), {});
  EXPECT_EQ(content_hash(dense), content_hash(sparse));
  EXPECT_NE(content_hash(dense), content_hash(split));
  EXPECT_EQ(content_hash(dense, HashSplits::no), content_hash(split, HashSplits::no));
  EXPECT_NE(content_hash(dense), content_hash(other));
}

}  // namespace
}  // namespace graphpae
