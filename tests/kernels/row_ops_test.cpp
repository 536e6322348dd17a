#include "graphpae/kernels/row_ops.h"

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

using test::check;
using test::factor;
using test::for_each_target;
using test::for_sizes;
using test::kSizes;
using test::random_floats;

const Dropout kNone{};
const Dropout kSome{.probability = 0.3f, .key = 0x123456789abcdefull};

double elu(double v) { return v > 0 ? v : std::expm1(v); }

TEST(RowOps, EluDropout) {
  for_sizes([&](int64_t n, int64_t d) {
    auto x = random_floats(n * d, 1, 2);
    for (size_t i = 0; i < x.size(); i += 5) x[i] *= 1e-5f;    // elu is exact near zero
    for (size_t i = 3; i < x.size(); i += 11) x[i] *= -60.0f;  // and far from it
    for (const Dropout& dropout : {kNone, kSome}) {
      std::vector<double> expected(x.size());
      for (int64_t i = 0; i < n * d; ++i) expected[i] = elu(x[i]) * factor(dropout, i / d, i % d);
      check(expected, 3e-7, [&](Threads threads) {
        auto y = x;  // in place
        elu_dropout(y.data(), n, d, dropout, y.data(), threads);
        return y;
      });
    }
  });
}

TEST(RowOps, EluKeepsRelativePrecisionNearZero) {
  const std::vector<float> x = {-1e-7f, -3e-5f, -1e-3f, -0.1f, -0.3f, -1e-20f, 0.0f};
  for_each_target([&](const std::vector<int>&) {
    std::vector<float> y(x.size());
    elu_dropout(x.data(), 1, static_cast<int64_t>(x.size()), kNone, y.data(), Threads{1});
    for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], std::expm1(static_cast<double>(x[i])), 3e-7 * -x[i]);
  });
}

TEST(RowOps, EluDropoutBackwardMatchesDifferences) {
  for_sizes([&](int64_t n, int64_t d) {
    const auto x = random_floats(n * d, 1), d_y = random_floats(n * d, 3);
    for (const Dropout& dropout : {kNone, kSome}) {
      std::vector<double> expected(x.size());
      for (int64_t i = 0; i < n * d; ++i) {
        const double v = static_cast<double>(x[i]), step = 1e-6;
        const double slope = (elu(v + step) - elu(v - step)) / (2 * step);
        expected[i] = slope * factor(dropout, i / d, i % d) * d_y[i];
      }
      std::vector<float> y(x.size());
      elu_dropout(x.data(), n, d, dropout, y.data(), Threads{1});
      check(expected, 1e-5, [&](Threads threads) {
        std::vector<float> result(expected.size());
        elu_dropout_backward(y.data(), d_y.data(), n, d, dropout, result.data(), threads);
        auto in_place = d_y;
        elu_dropout_backward(y.data(), in_place.data(), n, d, dropout, in_place.data(), threads);
        EXPECT_EQ(in_place, result);
        return result;
      });
    }
  });
}

TEST(RowOps, ColumnSums) {
  for (const int64_t n : {0, 1, 7, 40, 257, 3001}) {
    for (const int64_t d : {0, 1, 7, 40, 300}) {
      const auto x = random_floats(n * d, 1);
      std::vector<double> expected(static_cast<size_t>(d));
      for (int64_t i = 0; i < n * d; ++i) expected[i % d] += x[i];
      check(expected, 1e-5 * (1 + std::sqrt(n)), [&](Threads threads) {
        std::vector<float> sums(static_cast<size_t>(d), NAN);
        column_sums(x.data(), n, d, sums.data(), threads);
        return sums;
      });
    }
  }
}

TEST(RowOps, GatherAndScatter) {
  for (const int64_t d : kSizes) {
    const int64_t n = 100, m = 33;
    std::vector<int32_t> rows;
    for (int32_t i = 0; i < m; ++i) rows.push_back((i * 37 + 5) % 100);
    const auto x = random_floats(n * d, 1), small = random_floats(m * d, 2);
    for (const int threads : {1, 2, 8}) {
      std::vector<float> y(static_cast<size_t>(m * d)), z(static_cast<size_t>(n * d), NAN), expected(z.size(), 0.0f);
      gather_rows(x.data(), rows.data(), m, d, y.data(), Threads{threads});
      scatter_rows(small.data(), rows.data(), m, n, d, z.data(), Threads{threads});
      for (int64_t i = 0; i < m; ++i) {
        for (int64_t j = 0; j < d; ++j) {
          ASSERT_EQ(y[i * d + j], x[rows[i] * d + j]);
          expected[rows[i] * d + j] = small[i * d + j];
        }
      }
      EXPECT_EQ(z, expected);
    }
  }
}

}  // namespace
}  // namespace graphpae::kernels
