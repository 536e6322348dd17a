#include "graphpae/evaluate/shifted_factor.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "graphpae/core/rng.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

// Q = B B^T of rank 20, sizes on both sides of the block of 64.
TEST(ShiftedFactor, SolvesWhatItFactorised) {
  for (const int64_t n : {1, 63, 64, 65, 150}) {
    Buffer<float> q(static_cast<size_t>(n * n));
    const auto b = [&](int64_t i, int64_t k) { return Rng(4).normal(static_cast<uint64_t>(i * 20 + k)) / 10; };
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < 20; ++k) sum += b(i, k) * b(j, k);
        q[i * n + j] = static_cast<float>(sum);
      }
    }
    ShiftedFactor one, three;
    one.factorise(q, n, 0.5, 0.01, Threads{});
    three.factorise(q, n, 0.5, 0.01, Threads{3});
    std::vector<float> x(static_cast<size_t>(3 * n)), same;
    for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(Rng(6).normal(i));
    const std::vector<float> right = x;
    same = x;
    one.solve(x.data(), 3, Threads{});
    three.solve(same.data(), 3, Threads{3});
    EXPECT_EQ(x, same);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t c = 0; c < 3; ++c) {
        double sum = 0.01 * x[i * 3 + c];
        for (int64_t j = 0; j < n; ++j) sum += 0.5 * q[i * n + j] * x[j * 3 + c];
        EXPECT_NEAR(sum, right[i * 3 + c], 2e-3) << n;
      }
    }
  }
}

TEST(ShiftedFactor, SomethingIsAddedWhereRoundingLeavesNegativeValues) {
  ShiftedFactor factor;
  factor.factorise(Buffer<float>{1, 1, 1, 1 - 1e-6f}, 2, 1, 1e-9, Threads{});
  std::vector<float> x = {1, 1};
  factor.solve(x.data(), 1, Threads{});
  EXPECT_TRUE(std::isfinite(x[0]) && std::isfinite(x[1]));
  EXPECT_ERROR(factor.factorise(Buffer<float>{INFINITY, 0, 0, 1}, 2, 1, 1, Threads{}), ErrorKind::numerical,
               "too large");
}

}  // namespace
}  // namespace graphpae
