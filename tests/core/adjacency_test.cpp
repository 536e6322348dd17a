#include "graphpae/core/adjacency.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "graphpae/core/rng.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

std::vector<Edge> random_edges(int64_t nodes, int64_t count, uint64_t seed) {
  const Rng rng(seed);
  std::vector<Edge> edges;
  for (int64_t e = 0; e < count; ++e) {
    edges.push_back({static_cast<int32_t>(rng.below(2 * e, nodes)), static_cast<int32_t>(rng.below(2 * e + 1, nodes))});
  }
  return edges;
}

// Sets of neighbours, built the obvious way.
std::vector<std::set<int32_t>> plain_rows(const std::vector<Edge>& edges, int64_t nodes, bool keep_loops) {
  std::vector<std::set<int32_t>> rows(nodes);
  for (const Edge& e : edges) {
    if (e.src == e.dst && !keep_loops) continue;
    rows[e.src].insert(e.dst);
    rows[e.dst].insert(e.src);
  }
  return rows;
}

struct Case {
  int64_t nodes, edges;
};

void PrintTo(const Case& c, std::ostream* out) { *out << c.nodes << " nodes, " << c.edges << " edges"; }

class RandomAdjacency : public testing::TestWithParam<Case> {};

TEST_P(RandomAdjacency, EqualsThePlainConstructionForAnyThreadCount) {
  const auto [nodes, count] = GetParam();
  const std::vector<Edge> edges = random_edges(nodes, count, 7);
  for (const bool keep : {false, true}) {
    const auto rows = plain_rows(edges, nodes, keep);
    for (const int threads : {1, 2, 3, 8, 13}) {
      const EdgeOptions options{keep ? SelfLoops::keep : SelfLoops::drop, Repeats::merge};
      EdgeBlocks blocks(3);  // edges in uneven blocks, one empty
      blocks[0].assign(edges.begin(), edges.begin() + count / 3);
      blocks[2].assign(edges.begin() + count / 3, edges.end());
      const Adjacency adjacency = Adjacency::from_edges(std::move(blocks), nodes, options, Threads{threads});
      ASSERT_EQ(adjacency.num_nodes(), nodes);
      int64_t entries = 0, loops = 0;
      std::set<int32_t> looped;
      for (const Edge& e : edges) {
        if (e.src == e.dst) looped.insert(e.src);
      }
      for (int64_t u = 0; u < nodes; ++u) {
        const auto row = adjacency.row(u);
        ASSERT_TRUE(std::equal(row.begin(), row.end(), rows[u].begin(), rows[u].end()))
            << "node " << u << ", threads " << threads;
        entries += static_cast<int64_t>(row.size());
        loops += keep ? rows[u].count(static_cast<int32_t>(u)) : 0;
      }
      EXPECT_EQ(adjacency.num_edges(), (entries - loops) / 2);
      EXPECT_EQ(adjacency.num_self_loops(), static_cast<int64_t>(looped.size()));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Shapes, RandomAdjacency,
                         testing::Values(Case{1, 0}, Case{1, 5}, Case{2, 3}, Case{10, 0}, Case{10, 30}, Case{100, 1000},
                                         Case{3000, 500}, Case{500, 20000}));

TEST(Adjacency, StarHasItsHub) {
  std::vector<Edge> edges;
  for (int32_t leaf = 1; leaf < 1000; ++leaf) edges.push_back({leaf, 0});
  const Adjacency adjacency = Adjacency::from_edges(edges, 1000, {}, Threads{2});
  EXPECT_EQ(adjacency.degree(0), 999);
  EXPECT_EQ(adjacency.degree(999), 1);
  EXPECT_EQ(adjacency.num_edges(), 999);
}

TEST(Adjacency, RefusesWhatItIsToldToRefuse) {
  const std::vector<Edge> both = {{0, 1}, {1, 0}}, loop = {{0, 1}, {2, 2}};
  EXPECT_DATA_ERROR(Adjacency::from_edges(both, 3, {SelfLoops::drop, Repeats::refuse}),
                    "node 0 is given more than once");
  EXPECT_DATA_ERROR(Adjacency::from_edges(loop, 3, {SelfLoops::refuse, Repeats::merge}), "node 2 has a self loop");
  EXPECT_NO_THROW(Adjacency::from_edges(loop, 3, {SelfLoops::drop, Repeats::refuse}));
}

TEST(Adjacency, NamesTheEdgeThatIsOutOfRange) {
  const std::vector<Edge> high = {{0, 1}, {1, 5}}, negative = {{0, -1}};
  EXPECT_DATA_ERROR(Adjacency::from_edges(high, 5), "edge 1: node 5 is outside 0..4");
  EXPECT_DATA_ERROR(Adjacency::from_edges(negative, 5), "edge 0: node -1 is outside 0..4");
}

TEST(Components, AreNumberedByFirstAppearance) {
  const std::vector<Edge> edges = {{0, 3}, {1, 2}, {4, 3}};
  const Adjacency graph = Adjacency::from_edges(edges, 6);
  const Components components = connected_components(view_of(graph));
  EXPECT_EQ(components.of_node, (std::vector<int32_t>{0, 1, 1, 0, 0, 2}));
  EXPECT_EQ(components.sizes, (std::vector<int64_t>{3, 2, 1}));
}

}  // namespace
}  // namespace graphpae
