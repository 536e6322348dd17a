#include "graphpae/kernels/token_product.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "tests/support/kernel_checks.h"
#include "tests/support/kernel_inputs.h"

namespace graphpae::kernels {
namespace {

using test::expect_close;
using test::factor;
using test::for_each_target;
using test::random_floats;
using test::same_bits;

// m of the nodes 0 .. m+9, not in ascending order.
std::vector<int32_t> some_nodes(int64_t m) {
  std::vector<int32_t> nodes;
  for (int64_t i = 0; i < m; ++i) nodes.push_back(static_cast<int32_t>((i + 13) % (m + 10)));
  return nodes;
}

void check_against_loops(int64_t m, int64_t f, int64_t d, const Dropout& dropout,
                         const std::vector<int>& thread_counts) {
  SCOPED_TRACE(testing::Message() << m << " nodes, " << f << " x " << d << ", dropout " << dropout.probability);
  const int64_t n = m + 10;
  const auto nodes = some_nodes(m);
  const auto token = random_floats(f, 1), w = random_floats(f * d, 2), d_y = random_floats(n * d, 3);
  const auto y_start = random_floats(n * d, 4), w_start = random_floats(f * d, 5);
  std::vector<double> y(y_start.begin(), y_start.end()), d_w(w_start.begin(), w_start.end());
  std::vector<double> d_token(static_cast<size_t>(f));
  for (const int32_t node : nodes) {
    for (int64_t c = 0; c < d; ++c) y[node * d + c] = 0;
    for (int64_t j = 0; j < f; ++j) {
      const double keep = factor(dropout, node, j);
      if (keep == 0) continue;
      for (int64_t c = 0; c < d; ++c) {
        y[node * d + c] += keep * token[j] * w[j * d + c];
        d_w[j * d + c] += keep * token[j] * d_y[node * d + c];
        d_token[j] += keep * w[j * d + c] * d_y[node * d + c];
      }
    }
  }
  for_each_target(
      [&](const std::vector<int>& counts) {
        std::vector<float> first;
        for (const int threads : counts) {
          auto result = y_start, gradient = w_start;
          std::vector<float> token_gradient(static_cast<size_t>(f), NAN);
          token_product(token.data(), nodes, dropout, w.data(), f, d, result.data(), Threads{threads});
          token_product_backward(token.data(), nodes, dropout, w.data(), d_y.data(), f, d, gradient.data(),
                                 token_gradient.data(), Threads{threads});
          if (threads == 1) {
            expect_close(result, y, 1e-4);
            expect_close(gradient, d_w, 1e-4);
            expect_close(token_gradient, d_token, 1e-3);
          }
          result.insert(result.end(), gradient.begin(), gradient.end());
          result.insert(result.end(), token_gradient.begin(), token_gradient.end());
          if (threads == 1) first = result;
          EXPECT_TRUE(same_bits(first, result)) << threads << " threads";
        }
      },
      thread_counts);
}

TEST(TokenProduct, RowsAndGradientsOfOddSizes) {
  for (const float probability : {0.0f, 0.1f, 0.6f, 0.9f}) {
    for (const int64_t m : {0, 1, 5, 7, 13, 36, 75}) {
      for (const int64_t f : {0, 1, 5, 6, 7, 40, 257}) {
        for (const int64_t d : {1, 7, 64, 65, 130}) {
          const bool several = m == 75 || f == 257;
          check_against_loops(m, f, d, {.probability = probability, .key = 77},
                              several ? std::vector<int>{1, 2, 8} : std::vector<int>{1});
          if (HasFatalFailure()) return;
        }
      }
    }
  }
}

// More nodes, or more features, than one tile has.
TEST(TokenProduct, SeveralTiles) {
  for (const float probability : {0.0f, 0.6f}) {
    check_against_loops(1600, 5, 70, {.probability = probability, .key = 1}, {1, 2, 8});
    check_against_loops(5, 3200, 70, {.probability = probability, .key = 2}, {1, 2, 8});
  }
}

// A weight row that is dropped is not multiplied by zero: it may be infinite.
TEST(TokenProduct, DroppedInfinities) {
  const int64_t f = 40, d = 17;
  const std::vector<int32_t> nodes = {3};
  const Dropout dropout{.probability = 0.6f, .key = 5};
  const auto token = random_floats(f, 1);
  auto w = random_floats(f * d, 2);
  for (int64_t j = 0; j < f; ++j) {
    if (factor(dropout, 3, j) == 0) std::fill_n(w.begin() + j * d, d, INFINITY);
  }
  for_each_target(
      [&](const std::vector<int>&) {
        std::vector<float> y(static_cast<size_t>(4 * d));
        token_product(token.data(), nodes, dropout, w.data(), f, d, y.data(), Threads{1});
        for (const float value : y) ASSERT_TRUE(std::isfinite(value));
      },
      {1});
}

}  // namespace
}  // namespace graphpae::kernels
