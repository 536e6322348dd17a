#include <gtest/gtest.h>

#include <cmath>

#include "graphpae/analyze/neighbour_embedding.h"
#include "graphpae/analyze/principal_components.h"
#include "graphpae/core/rng.h"

namespace graphpae {
namespace {

// rows [n,d] of value(row, column).
template <class Value>
Features rows_of(int64_t n, int64_t d, const Value& value, bool sparse = false) {
  Buffer<float> values(static_cast<size_t>(n * d));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < d; ++c) values[i * d + c] = static_cast<float>(value(i, c));
  }
  return sparse ? Features::compact(n, d, std::move(values)) : Features::dense(n, d, std::move(values));
}

TEST(PrincipalComponents, FindsTheDirectionsOfTheData) {
  // Along (3, 4, 0) / 5 with deviation 10, along (0, 0, 1) with deviation 1, around (7, 7, 7).
  const Rng rng(1);
  const Features rows = rows_of(500, 3, [&](int64_t i, int64_t c) {
    const double a = 10 * rng.normal(2 * i), b = rng.normal(2 * i + 1);
    return 7 + (c == 0 ? 0.6 * a : c == 1 ? 0.8 * a : b);
  });
  const PrincipalComponents found = principal_components(rows, 5, {2});
  ASSERT_EQ(found.components, 3);
  EXPECT_NEAR(found.shares[0], 100.0 / 101, 0.003);
  EXPECT_NEAR(found.shares[2], 0, 1e-6);
  double mean = 0;
  for (int64_t i = 0; i < 500; ++i) mean += 10 * rng.normal(2 * i) / 500;
  for (int64_t i = 0; i < 500; ++i) EXPECT_NEAR(found.scores[i * 3], 10 * rng.normal(2 * i) - mean, 0.2) << i;
  EXPECT_EQ(principal_components(rows, 5, {1}).scores, found.scores);
}

TEST(PrincipalComponents, SparseRowsAreTheSame) {
  const Rng rng(2);
  const auto value = [&](int64_t i, int64_t c) { return rng.uniform(i * 40 + c) < 0.1 ? rng.normal(i + c) : 0.0; };
  const Features sparse = rows_of(60, 40, value, true);
  ASSERT_TRUE(sparse.is_sparse());
  EXPECT_EQ(principal_components(sparse, 2, {2}).scores, principal_components(rows_of(60, 40, value), 2, {2}).scores);
}

TEST(PrincipalComponents, RowsThatDoNotDiffer) {
  const PrincipalComponents found = principal_components(rows_of(5, 4, [](int64_t, int64_t c) { return c; }), 2, {1});
  EXPECT_EQ(found.scores, std::vector<double>(10, 0.0));
  EXPECT_EQ(found.shares, std::vector<double>(2, 0.0));
}

// Four clusters of 40 rows in 10 dimensions.
std::vector<double> clusters(int64_t n) {
  const Rng rng(3);
  std::vector<double> rows(static_cast<size_t>(n * 10));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < 10; ++c) rows[i * 10 + c] = 0.5 * rng.normal(i * 10 + c) + (c == i % 4 ? 8 : 0);
  }
  return rows;
}

TEST(NeighbourEmbedding, KeepsNeighboursTogether) {
  constexpr int64_t n = 160;
  const std::vector<double> rows = clusters(n);
  NeighbourEmbeddingOptions options;
  options.perplexity = 15;
  int64_t calls = 0;
  options.progress = [&](int64_t done, int64_t total) {
    EXPECT_EQ(done, ++calls);
    EXPECT_EQ(total, 500);
  };
  const std::vector<double> points = neighbour_embedding(rows, n, 10, options, {2});
  EXPECT_EQ(calls, 500);
  // The nearest point of every point is of its own cluster.
  for (int64_t i = 0; i < n; ++i) {
    double nearest = 1e300;
    int64_t which = -1;
    for (int64_t j = 0; j < n; ++j) {
      const double distance = std::hypot(points[2 * i] - points[2 * j], points[2 * i + 1] - points[2 * j + 1]);
      if (i != j && distance < nearest) {
        nearest = distance;
        which = j;
      }
    }
    EXPECT_EQ(which % 4, i % 4) << i;
    EXPECT_TRUE(std::isfinite(nearest));
  }
  options.progress = {};
  EXPECT_EQ(neighbour_embedding(rows, n, 10, options, {1}), points);
}

TEST(NeighbourEmbedding, TheTreeApproximatesAllPairs) {
  // After few steps, before chaos, exact and approximate forces lead to about the same place.
  constexpr int64_t n = 160;
  const std::vector<double> rows = clusters(n);
  NeighbourEmbeddingOptions exact;
  exact.theta = 0;
  exact.iterations = 15;
  NeighbourEmbeddingOptions coarse = exact;
  coarse.theta = 0.3;
  const std::vector<double> a = neighbour_embedding(rows, n, 10, exact, {2}),
                            b = neighbour_embedding(rows, n, 10, coarse, {2});
  double size = 0, difference = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    size += a[i] * a[i];
    difference += (a[i] - b[i]) * (a[i] - b[i]);
  }
  EXPECT_LT(std::sqrt(difference / size), 0.02);
  EXPECT_NE(a, b);
}

TEST(NeighbourEmbedding, FewAndEqualRows) {
  for (const int64_t n : {1, 2, 3, 4, 7, 50}) {
    for (const double all : {0.0, 1.5}) {
      const std::vector<double> equal(static_cast<size_t>(n * 3), all);
      for (const double value : neighbour_embedding(equal, n, 3, {}, {2})) EXPECT_TRUE(std::isfinite(value)) << n;
    }
  }
  const std::vector<double> one_column = {1, 2, 3, 4, 5, 6};
  EXPECT_EQ(neighbour_embedding(one_column, 6, 1, {}, {1}).size(), 12u);
}

}  // namespace
}  // namespace graphpae
