#include "graphpae/data/neighbour_sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>

#include "graphpae/data/generate.h"

namespace graphpae {
namespace {

Graph some_graph() {
  GenerateOptions options;
  options.nodes = 500;
  options.edges = 4000;
  options.isolated = 3;
  return generate(options, {2});
}

std::vector<int32_t> first_seeds(int32_t count) {
  std::vector<int32_t> seeds(static_cast<size_t>(count));
  std::iota(seeds.begin(), seeds.end(), 490);  // isolated nodes are the last ones
  return seeds;
}

TEST(NeighbourSampler, DrawsNeighboursHopAfterHop) {
  const Graph graph = some_graph();
  const std::vector<int64_t> fanout = {4, 3, 2};
  for (const bool replace : {false, true}) {
    NeighbourSampler sampler(graph.adjacency(), {fanout, replace});
    const SampledNeighbourhood sample = sampler.sample(first_seeds(13), Rng(1), {2});
    ASSERT_EQ(sample.reach.size(), 4u);
    EXPECT_EQ(sample.reach[0], 13);
    EXPECT_EQ(sample.reach[3], static_cast<int64_t>(sample.nodes.size()));
    EXPECT_EQ(static_cast<int64_t>(sample.offsets.size()), sample.reach[2] + 1);
    EXPECT_EQ(std::set<int32_t>(sample.nodes.begin(), sample.nodes.end()).size(), sample.nodes.size());
    int64_t fewer = 0;
    for (int64_t i = 0; i < sample.reach[2]; ++i) {
      const size_t hop = i < sample.reach[0] ? 0 : i < sample.reach[1] ? 1 : 2;
      const int32_t node = sample.nodes[i];
      const auto row = graph.adjacency().row(node);
      const auto degree = static_cast<int64_t>(row.size());
      EXPECT_EQ(sample.sources[sample.offsets[i]], i);  // the node itself comes first
      const int64_t drawn = sample.offsets[i + 1] - sample.offsets[i] - 1;
      EXPECT_EQ(drawn, replace ? (degree > 0 ? fanout[hop] : 0) : std::min(degree, fanout[hop]));
      std::set<int32_t> distinct;
      for (int64_t e = sample.offsets[i] + 1; e < sample.offsets[i + 1]; ++e) {
        EXPECT_LT(sample.sources[e], sample.reach[hop + 1]);
        const int32_t neighbour = sample.nodes[sample.sources[e]];
        EXPECT_TRUE(std::binary_search(row.begin(), row.end(), neighbour));
        distinct.insert(neighbour);
      }
      fewer += static_cast<int64_t>(distinct.size()) < drawn;
    }
    EXPECT_EQ(fewer > 0, replace);
  }
}

TEST(NeighbourSampler, ZeroTakesAllNeighbours) {
  const Graph graph = some_graph();
  NeighbourSampler sampler(graph.adjacency(), {{0}, true});
  const SampledNeighbourhood sample = sampler.sample(first_seeds(10), Rng(1), {1});
  for (int64_t i = 0; i < 10; ++i)
    EXPECT_EQ(sample.offsets[i + 1] - sample.offsets[i], 1 + graph.adjacency().degree(sample.nodes[i]));
}

TEST(NeighbourSampler, SelfLoopsAreNotDrawn) {
  const std::vector<Edge> edges = {{0, 1}, {1, 1}, {1, 2}, {2, 3}};
  EdgeOptions keep;
  keep.self_loops = SelfLoops::keep;
  const Adjacency adjacency = Adjacency::from_edges(edges, 4, keep);
  ASSERT_EQ(adjacency.degree(1), 3);
  const std::vector<int32_t> seeds = {1};
  for (const int64_t fanout : {0, 2, 5}) {
    NeighbourSampler sampler(adjacency, {{fanout}, false});
    const SampledNeighbourhood sample = sampler.sample(seeds, Rng(1), {1});
    EXPECT_EQ(sample.nodes, (std::vector<int32_t>{1, 0, 2}));
    EXPECT_EQ(sample.sources, (std::vector<int32_t>{0, 1, 2}));
  }
}

TEST(NeighbourSampler, SameForAnyThreadsAndNewForAnotherGenerator) {
  const Graph graph = some_graph();
  NeighbourSampler sampler(graph.adjacency(), {{5, 3}, false});
  std::vector<int32_t> seeds(400);
  std::iota(seeds.begin(), seeds.end(), 0);
  const SampledNeighbourhood one = sampler.sample(seeds, Rng(1), {1});
  for (const int threads : {2, 8}) {
    const SampledNeighbourhood other = sampler.sample(seeds, Rng(1), {threads});
    EXPECT_EQ(one.nodes, other.nodes);
    EXPECT_EQ(one.offsets, other.offsets);
    EXPECT_EQ(one.sources, other.sources);
  }
  EXPECT_NE(one.sources, sampler.sample(seeds, Rng(2), {1}).sources);
}

// Every set of three of ten leaves is as likely: each leaf 0.3, each pair 1/15.
TEST(NeighbourSampler, DrawsAreUniform) {
  std::vector<Edge> edges;
  for (int32_t leaf = 1; leaf <= 10; ++leaf) edges.push_back({0, leaf});
  const Adjacency star = Adjacency::from_edges(edges, 11);
  NeighbourSampler sampler(star, {{3}, false});
  constexpr int kDraws = 20000;
  std::vector<double> leaves(11, 0), pairs(121, 0);
  const std::vector<int32_t> hub = {0};
  for (int draw = 0; draw < kDraws; ++draw) {
    const SampledNeighbourhood sample = sampler.sample(hub, Rng(static_cast<uint64_t>(draw)), {1});
    for (size_t a = 1; a < 4; ++a) {
      ++leaves[sample.nodes[a]];
      for (size_t b = 1; b < a; ++b)
        ++pairs[std::min(sample.nodes[a], sample.nodes[b]) * 11 + std::max(sample.nodes[a], sample.nodes[b])];
    }
  }
  const auto expect_share = [&](double count, double share) {
    EXPECT_NEAR(count, kDraws * share, 5 * std::sqrt(kDraws * share * (1 - share)));
  };
  for (int32_t a = 1; a <= 10; ++a) {
    expect_share(leaves[a], 0.3);
    for (int32_t b = a + 1; b <= 10; ++b) expect_share(pairs[a * 11 + b], 1.0 / 15);
  }
}

}  // namespace
}  // namespace graphpae
