#include "graphpae/kernels/tile_product.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "tests/support/kernel_checks.h"

namespace graphpae::kernels {
namespace {

using test::random_floats;
using test::same_bits;

// These run where there are tiles; products by tiles are also tested by those of dense_product.
#define SKIP_WITHOUT_TILES() \
  if (!tiles_pay(64, 64)) GTEST_SKIP() << "this machine has no tiles"

std::vector<float> product(const std::vector<float>& a, const std::vector<float>& b, int64_t m, int64_t n, int64_t k,
                           bool tiles) {
  std::vector<float> c(static_cast<size_t>(m * n), NAN);
  if (tiles) {
    TileScratch scratch(n, k);
    tile_product(plain(a.data(), k), plain(b.data(), n), k, {0, m, 0, n}, false, nullptr, c.data(), n, scratch);
  } else {
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        float sum = 0;
        for (int64_t l = 0; l < k; ++l) sum = std::fma(a[i * k + l], b[l * n + j], sum);
        c[i * n + j] = sum;
      }
    }
  }
  return c;
}

// The root of the mean of squared errors, in units of the mean size of the terms' sums.
double error_of(const std::vector<float>& c, const std::vector<float>& a, const std::vector<float>& b, int64_t m,
                int64_t n, int64_t k) {
  double squares = 0, sizes = 0;
  for (int64_t i = 0; i < m; ++i) {
    for (int64_t j = 0; j < n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < k; ++l) sum += static_cast<double>(a[i * k + l]) * b[l * n + j];
      squares += (c[i * n + j] - sum) * (c[i * n + j] - sum);
      sizes += sum * sum;
    }
  }
  return std::sqrt(squares / sizes);
}

TEST(TileProduct, IsAsExactAsFloat32) {
  SKIP_WITHOUT_TILES();
  for (const int64_t k : {32, 300, 1200}) {
    for (const float shift : {0.0f, 1.0f}) {  // sums that cancel, and sums that grow
      auto a = random_floats(40 * k, 1), b = random_floats(k * 50, 2);
      for (float& x : a) x += shift;
      for (float& x : b) x += shift;
      const double tiles = error_of(product(a, b, 40, 50, k, true), a, b, 40, 50, k);
      const double vectors = error_of(product(a, b, 40, 50, k, false), a, b, 40, 50, k);
      EXPECT_LT(tiles, 2 * vectors + 1e-8) << k << " terms, shift " << shift;
      EXPECT_LT(tiles, 1e-6) << k << " terms, shift " << shift;
    }
  }
}

TEST(TileProduct, NumbersOfAllSizes) {
  SKIP_WITHOUT_TILES();
  for (const float scale : {1e-15f, 1e-6f, 1e6f, 1e15f}) {
    const auto a = random_floats(33 * 64, 1, scale), b = random_floats(64 * 32, 2, scale);
    EXPECT_LT(error_of(product(a, b, 33, 32, 64, true), a, b, 33, 32, 64), 3e-7) << scale;
  }
}

TEST(TileProduct, OneTermIsRoundedOnce) {
  SKIP_WITHOUT_TILES();
  // With one term that is not zero nothing is lost by adding: what is left out of the product must not be seen.
  std::vector<float> a(32 * 32, 0.0f), b(32 * 32, 0.0f);
  const auto x = random_floats(32, 1), y = random_floats(32, 2);
  for (int64_t i = 0; i < 32; ++i) {
    a[i * 32 + 5] = x[i];
    b[5 * 32 + i] = y[i];
  }
  const auto c = product(a, b, 32, 32, 32, true);
  for (int64_t i = 0; i < 32; ++i) {
    for (int64_t j = 0; j < 32; ++j)
      EXPECT_NEAR(c[i * 32 + j], x[i] * y[j], 1.2e-7 * std::abs(x[i] * y[j])) << i << " " << j;
  }
}

TEST(TileProduct, WhatIsNotFiniteStaysSo) {
  SKIP_WITHOUT_TILES();
  auto a = random_floats(32 * 32, 1), b = random_floats(32 * 32, 2);
  a[3 * 32 + 7] = std::numeric_limits<float>::quiet_NaN();
  a[4 * 32 + 9] = std::numeric_limits<float>::infinity();
  const auto c = product(a, b, 32, 32, 32, true);
  for (int64_t i = 0; i < 32; ++i) {
    for (int64_t j = 0; j < 32; ++j) EXPECT_EQ(std::isfinite(c[i * 32 + j]), i != 3 && i != 4) << i << " " << j;
  }
}

TEST(TileProduct, ARowHasTheSameBitsInAnyCompany) {
  SKIP_WITHOUT_TILES();
  const int64_t n = 70, k = 900;
  const auto a = random_floats(45 * k, 1), b = random_floats(k * n, 2);
  const auto all = product(a, b, 45, n, k, true);
  for (const int64_t i : {0, 31, 44}) {
    const std::vector<float> row(a.begin() + i * k, a.begin() + (i + 1) * k);
    EXPECT_TRUE(same_bits(product(row, b, 1, n, k, true), {all.begin() + i * n, all.begin() + (i + 1) * n})) << i;
  }
}

TEST(TileProduct, PaysForWholeTilesOnly) {
  EXPECT_FALSE(tiles_pay(8, 300));
  EXPECT_FALSE(tiles_pay(300, 4));
  EXPECT_FALSE(tiles_pay(0, 300));
}

}  // namespace
}  // namespace graphpae::kernels
