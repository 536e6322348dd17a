#include "graphpae/positions/relative_distances.h"

#include <gtest/gtest.h>

#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/core/rng.h"

namespace graphpae {
namespace {

struct Case {
  std::vector<double> table;
  std::vector<int32_t> sources, targets, nodes;
  std::vector<double> noise;
  int64_t n, k;

  Case(int64_t num_nodes, int64_t edges, int64_t columns) : n(num_nodes), k(columns) {
    const Rng rng(static_cast<uint64_t>(columns), 3);
    uint64_t at = 0;
    for (int64_t i = 0; i < n * k; ++i) table.push_back(rng.normal(at++));
    for (int64_t e = 0; e < edges; ++e) {
      sources.push_back(static_cast<int32_t>(rng.below(at++, n)));
      targets.push_back(static_cast<int32_t>(rng.below(at++, n)));
    }
    for (int64_t i = 0; i < n; i += 4) nodes.push_back(static_cast<int32_t>(i));
    for (size_t i = 0; i < nodes.size() * k; ++i) noise.push_back(0.01 * rng.normal(at++));
  }
  std::vector<double> noisy_table() const {
    std::vector<double> result = table;
    for (size_t m = 0; m < nodes.size(); ++m) {
      for (int64_t j = 0; j < k; ++j) result[nodes[m] * k + j] += noise[m * k + j];
    }
    return result;
  }
  float plain(const std::vector<double>& values, int64_t e) const {
    double sum = 0;
    for (int64_t j = 0; j < k; ++j) sum += std::pow(values[sources[e] * k + j] - values[targets[e] * k + j], 2);
    return static_cast<float>(std::sqrt(sum));
  }
};

TEST(RelativeDistances, MatchAPlainLoopForEveryColumnCount) {
  for (int64_t k = 1; k <= 17; ++k) {  // all remainders of two AVX-512 vectors
    const Case c(40, 300, k);
    const PositionTable table{c.table, k};
    const EdgeEnds edges{c.sources, c.targets};
    const auto clean = relative_distances(table, edges);
    const auto noisy = corrupted_distances(table, edges, {c.nodes, c.noise}, clean);
    const std::vector<double> corrupted = c.noisy_table();
    int64_t changed = 0;
    for (int64_t e = 0; e < edges.size(); ++e) {
      EXPECT_NEAR(clean[e], c.plain(c.table, e), 1e-6 * clean[e]);
      EXPECT_NEAR(noisy[e], c.plain(corrupted, e), 1e-6 * noisy[e]);
      changed += clean[e] != noisy[e];
      if (c.sources[e] == c.targets[e]) {
        EXPECT_EQ(noisy[e], 0.0f);
      }
      if (c.sources[e] % 4 != 0 && c.targets[e] % 4 != 0) {
        EXPECT_EQ(noisy[e], clean[e]);
      }
    }
    EXPECT_GT(changed, 50);
  }
}

TEST(RelativeDistances, AreTheSameForAnyNumberOfThreads) {
  const Case c(500, 50000, 9);
  const PositionTable table{c.table, 9};
  const EdgeEnds edges{c.sources, c.targets};
  const auto one = relative_distances(table, edges, Threads{1});
  const auto noisy = corrupted_distances(table, edges, {c.nodes, c.noise}, one, Threads{1});
  for (const int count : {2, 3, 8}) {
    EXPECT_EQ(one, relative_distances(table, edges, Threads{count}));
    EXPECT_EQ(noisy, corrupted_distances(table, edges, {c.nodes, c.noise}, one, Threads{count}));
  }
}

TEST(RelativeDistances, NoEdges) { EXPECT_TRUE(relative_distances({std::vector<double>(6), 2}, {}).empty()); }

TEST(RelativeDistances, RefuseSizesThatDoNotFit) {
  const std::vector<double> table(6);
  const std::vector<int32_t> one = {0}, two = {0, 1};
  EXPECT_THROW(relative_distances({table, 2}, {one, two}), Error);
  EXPECT_THROW(relative_distances({table, 4}, {one, one}), Error);
  EXPECT_THROW(corrupted_distances({table, 2}, {one, one}, {one, table}, std::vector<float>(1)), Error);
  EXPECT_THROW(corrupted_distances({table, 2}, {one, one}, {}, {}), Error);
}

}  // namespace
}  // namespace graphpae
