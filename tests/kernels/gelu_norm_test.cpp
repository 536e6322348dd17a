#include "graphpae/kernels/gelu_norm.h"

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

double activate(NormActivation activation, double v) {
  return activation == NormActivation::kRelu ? std::max(v, 0.0) : 0.5 * v * (1 + std::erf(v / std::sqrt(2.0)));
}

// LayerNorm(activation(x)) of one row.
std::vector<double> naive_row(NormActivation activation, const std::vector<double>& x, const float* weight,
                              const float* bias) {
  const size_t d = x.size();
  std::vector<double> y(d);
  double mean = 0, variance = 0;
  for (size_t j = 0; j < d; ++j) mean += (y[j] = activate(activation, x[j])) / d;
  for (size_t j = 0; j < d; ++j) variance += (y[j] - mean) * (y[j] - mean) / d;
  for (size_t j = 0; j < d; ++j) y[j] = (y[j] - mean) / std::sqrt(variance + 1e-5) * weight[j] + bias[j];
  return y;
}

TEST(GeluNorm, ErfIsAccurate) {
  std::vector<float> x;
  for (int i = -80001; i <= 80001; ++i) x.push_back(static_cast<float>(i) * 1e-4f);
  x.insert(x.end(), {0.0f, -0.0f, 1e-30f, 100.0f, -100.0f, 1e30f, -1e30f, 3.9f, 3.8999f});
  for_each_target([&](const std::vector<int>&) {
    std::vector<float> y(x.size());
    erf_values(x.data(), static_cast<int64_t>(x.size()), y.data());
    double worst = 0;
    for (size_t i = 0; i < x.size(); ++i) worst = std::max(worst, std::abs(y[i] - std::erf(static_cast<double>(x[i]))));
    EXPECT_LE(worst, 2e-7);
  });
}

class GeluNormTest : public testing::TestWithParam<NormActivation> {};

TEST_P(GeluNormTest, ForwardMatchesLoops) {
  for (const int64_t m : {0, 1, 7, 40, 257}) {
    for (const int64_t d : {1, 7, 40, 257}) {
      SCOPED_TRACE(testing::Message() << m << " x " << d);
      const auto x = random_floats(m * d, 1, 2), weight = random_floats(d, 2), bias = random_floats(d, 3);
      std::vector<double> expected;
      for (int64_t i = 0; i < m; ++i) {
        const auto row = naive_row(GetParam(), std::vector<double>(x.begin() + i * d, x.begin() + (i + 1) * d),
                                   weight.data(), bias.data());
        expected.insert(expected.end(), row.begin(), row.end());
      }
      for_each_target([&](const std::vector<int>& counts) {
        std::vector<float> first;
        for (const int threads : counts) {
          std::vector<float> y(x.size()), mean(static_cast<size_t>(m)), inverse(static_cast<size_t>(m));
          activation_norm(GetParam(), x.data(), weight.data(), bias.data(), m, d, y.data(), mean.data(), inverse.data(),
                          Threads{threads});
          if (threads == 1) {
            expect_close(y, expected, 2e-5);
            first = y;
          }
          EXPECT_TRUE(same_bits(first, y));
        }
      });
    }
  }
}

TEST_P(GeluNormTest, BackwardMatchesDifferences) {
  for (const int64_t m : {1, 7, 40}) {
    for (const int64_t d : {2, 7, 40, 65}) {
      SCOPED_TRACE(testing::Message() << m << " x " << d);
      auto x = random_floats(m * d, 1, 2);
      for (float& v : x) v += std::copysign(1e-3f, v);  // away from the kink of ReLU
      const auto weight = random_floats(d, 2), bias = random_floats(d, 3), d_y = random_floats(m * d, 4);
      std::vector<double> expected(static_cast<size_t>(m * d + 2 * d));
      for (int64_t i = 0; i < m; ++i) {
        const std::vector<double> row(x.begin() + i * d, x.begin() + (i + 1) * d);
        const auto loss = [&](const std::vector<double>& values) {
          const auto y = naive_row(GetParam(), values, weight.data(), bias.data());
          double sum = 0;
          for (int64_t j = 0; j < d; ++j) sum += y[j] * d_y[i * d + j];
          return sum;
        };
        const std::vector<float> ones(static_cast<size_t>(d), 1), zeros(static_cast<size_t>(d), 0);
        const auto normal = naive_row(GetParam(), row, ones.data(), zeros.data());
        for (int64_t j = 0; j < d; ++j) {
          const double step = 1e-5;
          auto up = row, down = row;
          up[j] += step;
          down[j] -= step;
          expected[i * d + j] = (loss(up) - loss(down)) / (2 * step);
          expected[m * d + j] += normal[j] * d_y[i * d + j];
          expected[m * d + d + j] += d_y[i * d + j];
        }
      }
      for_each_target([&](const std::vector<int>& counts) {
        std::vector<float> y(x.size()), mean(static_cast<size_t>(m)), inverse(static_cast<size_t>(m)), first;
        activation_norm(GetParam(), x.data(), weight.data(), bias.data(), m, d, y.data(), mean.data(), inverse.data(),
                        Threads{1});
        for (const int threads : counts) {
          std::vector<float> result(expected.size());
          std::copy(d_y.begin(), d_y.end(), result.begin());  // in place
          activation_norm_backward(GetParam(), x.data(), weight.data(), mean.data(), inverse.data(), result.data(), m,
                                   d, result.data(), result.data() + m * d, result.data() + m * d + d,
                                   Threads{threads});
          if (threads == 1) {
            expect_close(result, expected, 1e-4);
            first = result;
          }
          EXPECT_TRUE(same_bits(first, result));
        }
      });
    }
  }
}

TEST_P(GeluNormTest, LargeSumsDoNotDependOnThreads) {
  const int64_t m = 2100, d = 33;
  const auto x = random_floats(m * d, 1), weight = random_floats(d, 2), d_y = random_floats(m * d, 4);
  std::vector<float> y(x.size()), mean(m), inverse(m), first;
  activation_norm(GetParam(), x.data(), weight.data(), weight.data(), m, d, y.data(), mean.data(), inverse.data(),
                  Threads{2});
  for (const int threads : {1, 2, 3, 8}) {
    std::vector<float> result(static_cast<size_t>(m * d + 2 * d));
    activation_norm_backward(GetParam(), x.data(), weight.data(), mean.data(), inverse.data(), d_y.data(), m, d,
                             result.data(), result.data() + m * d, result.data() + m * d + d, Threads{threads});
    if (first.empty()) first = result;
    EXPECT_TRUE(same_bits(first, result));
  }
}

INSTANTIATE_TEST_SUITE_P(Activations, GeluNormTest, testing::Values(NormActivation::kGelu, NormActivation::kRelu));

}  // namespace
}  // namespace graphpae::kernels
