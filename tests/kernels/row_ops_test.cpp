#include "graphpae/kernels/row_ops.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "tests/support/kernel_checks.h"

namespace graphpae::kernels {
namespace {

using test::expect_close;
using test::for_each_target;
using test::random_floats;
using test::same_bits;

constexpr int64_t kSizes[] = {0, 1, 7, 40, 257};
const Dropout kNone{};
const Dropout kSome{.probability = 0.3f, .key = 0x123456789abcdefull};

double factor(const Dropout& dropout, int64_t row, int64_t column) {
  if (!dropout.active()) return 1;
  const bool kept = keeps(dropout, dropout_row_hash(dropout, row), static_cast<uint32_t>(column));
  return kept ? dropout.scale() : 0;
}

double elu(double v) { return v > 0 ? v : std::expm1(v); }

// Checks run(threads), which returns all its outputs in one vector, against `expected`, for all targets and threads.
template <class Run>
void check(const std::vector<double>& expected, double tolerance, const Run& run) {
  for_each_target([&](const std::vector<int>& counts) {
    const std::vector<float> first = run(Threads{1});
    expect_close(first, expected, tolerance);
    for (const int threads : counts) EXPECT_TRUE(same_bits(first, run(Threads{threads})));
  });
}

template <class Body>
void for_sizes(const Body& body) {
  for (const int64_t n : kSizes) {
    for (const int64_t d : kSizes) {
      SCOPED_TRACE(testing::Message() << n << " x " << d);
      body(n, d);
    }
  }
}

TEST(RowOps, BiasEluDropout) {
  for_sizes([&](int64_t n, int64_t d) {
    auto x = random_floats(n * d, 1, 2);
    for (size_t i = 0; i < x.size(); i += 5) x[i] *= 1e-5f;    // elu is exact near zero
    for (size_t i = 3; i < x.size(); i += 11) x[i] *= -60.0f;  // and far from it
    const auto bias = random_floats(d, 2);
    for (const Dropout& dropout : {kNone, kSome}) {
      for (const bool with_bias : {false, true}) {
        std::vector<double> expected(x.size());
        for (int64_t i = 0; i < n * d; ++i) {
          const float v = with_bias ? x[i] + bias[i % d] : x[i];
          expected[i] = elu(v) * factor(dropout, i / d, i % d);
        }
        check(expected, 3e-7, [&](Threads threads) {
          auto y = x;  // in place
          bias_elu_dropout(y.data(), with_bias ? bias.data() : nullptr, n, d, dropout, y.data(), threads);
          return y;
        });
      }
    }
  });
}

TEST(RowOps, EluKeepsRelativePrecisionNearZero) {
  const std::vector<float> x = {-1e-7f, -3e-5f, -1e-3f, -0.1f, -0.3f, -1e-20f, 0.0f};
  for_each_target([&](const std::vector<int>&) {
    std::vector<float> y(x.size());
    bias_elu_dropout(x.data(), nullptr, 1, static_cast<int64_t>(x.size()), kNone, y.data(), Threads{1});
    for (size_t i = 0; i < x.size(); ++i) EXPECT_NEAR(y[i], std::expm1(static_cast<double>(x[i])), 3e-7 * -x[i]);
  });
}

TEST(RowOps, BiasEluDropoutBackwardMatchesDifferences) {
  for_sizes([&](int64_t n, int64_t d) {
    const auto x = random_floats(n * d, 1), bias = random_floats(d, 2), d_y = random_floats(n * d, 3);
    for (const Dropout& dropout : {kNone, kSome}) {
      std::vector<double> expected(x.size() + static_cast<size_t>(d));
      for (int64_t i = 0; i < n * d; ++i) {
        const double v = static_cast<double>(x[i]) + bias[i % d], step = 1e-6;
        const double slope = (elu(v + step) - elu(v - step)) / (2 * step);
        expected[i] = slope * factor(dropout, i / d, i % d) * d_y[i];
        expected[n * d + i % d] += expected[i];
      }
      std::vector<float> y(x.size());
      bias_elu_dropout(x.data(), bias.data(), n, d, dropout, y.data(), Threads{1});
      check(expected, 1e-5, [&](Threads threads) {
        std::vector<float> result(expected.size());
        bias_elu_dropout_backward(y.data(), d_y.data(), n, d, dropout, result.data(), result.data() + n * d, threads);
        auto in_place = d_y;
        bias_elu_dropout_backward(y.data(), in_place.data(), n, d, dropout, in_place.data(), nullptr, threads);
        EXPECT_TRUE(std::equal(in_place.begin(), in_place.end(), result.begin()));
        return result;
      });
    }
  });
}

TEST(RowOps, ApplyDropout) {
  for_sizes([&](int64_t n, int64_t d) {
    const auto x = random_floats(n * d, 1);
    for (const Dropout& dropout : {kNone, kSome}) {
      std::vector<double> expected(x.size());
      for (int64_t i = 0; i < n * d; ++i) expected[i] = x[i] * factor(dropout, i / d, i % d);
      check(expected, 2e-7, [&](Threads threads) {
        std::vector<float> y(x.size());
        apply_dropout(x.data(), n, d, dropout, y.data(), threads);
        return y;
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

TEST(RowOps, HeadLogits) {
  for (const int64_t n : kSizes) {
    for (const auto& [d, heads] : {std::pair<int64_t, int64_t>{0, 1}, {1, 1}, {12, 4}, {40, 1}, {257, 1}, {296, 8}}) {
      SCOPED_TRACE(testing::Message() << n << " x " << d << ", heads " << heads);
      const int64_t width = d / heads;
      const auto x = random_floats(n * d, 1), a = random_floats(d, 2), b = random_floats(d, 3);
      std::vector<double> expected(static_cast<size_t>(2 * n * heads));
      for (int64_t i = 0; i < n * d; ++i) {
        const int64_t place = i / d * heads + i % d / width;
        expected[place] += static_cast<double>(x[i]) * a[i % d];
        expected[n * heads + place] += static_cast<double>(x[i]) * b[i % d];
      }
      check(expected, 2e-5, [&](Threads threads) {
        std::vector<float> result(expected.size());
        head_logits(x.data(), a.data(), b.data(), n, d, heads, result.data(), result.data() + n * heads, threads);
        return result;
      });

      // The logits are linear in x, a and b: the gradient is exact without differences.
      const auto d_source = random_floats(n * heads, 4), d_target = random_floats(n * heads, 5);
      const auto start = random_floats(n * d, 6);
      std::vector<double> gradients(static_cast<size_t>(n * d + 2 * d));
      for (int64_t i = 0; i < n * d; ++i) {
        const int64_t place = i / d * heads + i % d / width, j = i % d;
        gradients[i] =
            start[i] + static_cast<double>(d_source[place]) * a[j] + static_cast<double>(d_target[place]) * b[j];
        gradients[n * d + j] += static_cast<double>(d_source[place]) * x[i];
        gradients[n * d + d + j] += static_cast<double>(d_target[place]) * x[i];
      }
      check(gradients, 2e-5, [&](Threads threads) {
        std::vector<float> result(gradients.size());
        std::copy(start.begin(), start.end(), result.begin());
        head_logits_backward(x.data(), a.data(), b.data(), d_source.data(), d_target.data(), n, d, heads, result.data(),
                             result.data() + n * d, result.data() + n * d + d, threads);
        return result;
      });
    }
  }
}

TEST(RowOps, NarrowProduct) {
  for_sizes([&](int64_t n, int64_t d) {
    for (const int64_t k : {1, 3, 8, 16}) {
      const auto x = random_floats(n * d, 1), v = random_floats(d * k, 2), d_y = random_floats(n * k, 3);
      std::vector<double> y(static_cast<size_t>(n * k)), gradients(static_cast<size_t>(n * d + d * k));
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < d; ++j) {
          for (int64_t c = 0; c < k; ++c) {
            y[i * k + c] += static_cast<double>(x[i * d + j]) * v[j * k + c];
            gradients[i * d + j] += static_cast<double>(d_y[i * k + c]) * v[j * k + c];
            gradients[n * d + j * k + c] += static_cast<double>(d_y[i * k + c]) * x[i * d + j];
          }
        }
      }
      check(y, 2e-5, [&](Threads threads) {
        std::vector<float> result(y.size());
        narrow_product(x.data(), v.data(), n, d, k, result.data(), threads);
        return result;
      });
      check(gradients, 2e-5, [&](Threads threads) {
        std::vector<float> result(gradients.size());
        narrow_product_backward(x.data(), v.data(), d_y.data(), n, d, k, result.data(), result.data() + n * d, threads);
        return result;
      });
    }
  });
}

}  // namespace
}  // namespace graphpae::kernels
