#include "graphpae/core/rng.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace graphpae {
namespace {

using Block = std::array<uint32_t, 4>;

// Known answers of Philox 4x32-10: counter (index, stream), key (seed).
TEST(Rng, MatchesPublishedAnswers) {
  EXPECT_EQ(Rng(0, 0).block(0), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Rng(~0ull, ~0ull).block(~0ull), (Block{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Rng(0x299f31d0a4093822, 0x0370734413198a2e).block(0x85a308d3243f6a88),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Rng, UniformHasTheRightMomentsAndRange) {
  const Rng rng(1);
  double sum = 0, squares = 0;
  constexpr int kCount = 100000;
  for (int i = 0; i < kCount; ++i) {
    const double u = rng.uniform(i);
    ASSERT_GE(u, 0);
    ASSERT_LT(u, 1);
    sum += u;
    squares += u * u;
  }
  EXPECT_NEAR(sum / kCount, 0.5, 0.005);
  EXPECT_NEAR(squares / kCount, 1.0 / 3, 0.005);
}

TEST(Rng, NormalHasTheRightMoments) {
  const Rng rng(2);
  double sum = 0, squares = 0;
  constexpr int kCount = 100000;
  for (int i = 0; i < kCount; ++i) {
    sum += rng.normal(i);
    squares += rng.normal(i) * rng.normal(i);
  }
  EXPECT_NEAR(sum / kCount, 0, 0.02);
  EXPECT_NEAR(squares / kCount, 1, 0.03);
}

TEST(Rng, BelowCoversItsRange) {
  std::set<uint64_t> seen;
  for (int i = 0; i < 200; ++i) seen.insert(Rng(3).below(i, 7));
  EXPECT_EQ(seen.size(), 7u);
  EXPECT_EQ(*seen.rbegin(), 6u);
  EXPECT_EQ(Rng(3).below(5, 1), 0u);
}

TEST(Rng, StreamsAndSeedsDiffer) {
  EXPECT_NE(Rng(1, 0).bits(0), Rng(1, 1).bits(0));
  EXPECT_NE(Rng(1, 0).bits(0), Rng(2, 0).bits(0));
  EXPECT_EQ(Rng(1).stream(4).bits(9), Rng(1, 4).bits(9));
}

TEST(Rng, PermutationHoldsEveryNumberOnce) {
  for (const int n : {0, 1, 7, 1000}) {
    std::vector<int32_t> order = Rng(5).permutation(n);
    EXPECT_EQ(std::is_sorted(order.begin(), order.end()), n < 2) << n;
    std::sort(order.begin(), order.end());
    for (int i = 0; i < n; ++i) EXPECT_EQ(order[i], i);
  }
}

}  // namespace
}  // namespace graphpae
