#include "graphpae/kernels/batch_norm.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "tests/support/kernel_checks.h"

namespace graphpae::kernels {
namespace {

using test::check;
using test::for_sizes;
using test::random_floats;

struct Moments {
  std::vector<double> mean, variance;
};

Moments plain_moments(const std::vector<float>& x, int64_t n, int64_t d) {
  Moments m{std::vector<double>(static_cast<size_t>(d), 0), std::vector<double>(static_cast<size_t>(d), 0)};
  for (int64_t j = 0; j < d && n > 0; ++j) {
    for (int64_t i = 0; i < n; ++i) m.mean[j] += x[i * d + j] / static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i)
      m.variance[j] += (x[i * d + j] - m.mean[j]) * (x[i * d + j] - m.mean[j]) / static_cast<double>(n);
  }
  return m;
}

TEST(BatchNorm, MomentsFarFromZero) {
  for_sizes([](int64_t n, int64_t d) {
    std::vector<float> x = random_floats(n * d, 3);
    for (float& value : x) value += 100;  // sums of squares would lose the variance
    const Moments m = plain_moments(x, n, d);
    std::vector<double> expected = m.mean;
    expected.insert(expected.end(), m.variance.begin(), m.variance.end());
    check(expected, 2e-5, [&](Threads threads) {
      std::vector<double> moments(static_cast<size_t>(2 * d));
      column_moments(x.data(), n, d, moments.data(), moments.data() + d, threads);
      std::vector<float> out(moments.begin(), moments.end());
      for (int64_t j = d; j < 2 * d; ++j)
        out[j] = static_cast<float>(moments[j] / static_cast<double>(std::max<int64_t>(n, 1)));
      return out;
    });
  });
}

struct Problem {
  int64_t n, d;
  std::vector<float> x, d_y, mean, inverse, weight, bias;

  Problem(int64_t rows, int64_t columns)
      : n(rows),
        d(columns),
        x(random_floats(n * d, 1)),
        d_y(random_floats(n * d, 2)),
        mean(static_cast<size_t>(d)),
        inverse(static_cast<size_t>(d)),
        weight(random_floats(d, 4)),
        bias(random_floats(d, 5)) {
    const Moments m = plain_moments(x, n, d);
    for (int64_t j = 0; j < d; ++j) {
      mean[j] = static_cast<float>(m.mean[j]);
      inverse[j] = static_cast<float>(1 / std::sqrt(m.variance[j] + 1e-5));
    }
  }
  BatchNorm norm(bool relu, const Dropout& dropout) const {
    return {d, mean.data(), inverse.data(), weight.data(), bias.data(), relu, dropout};
  }
  double unit(int64_t i, int64_t j) const { return (double{x[i * d + j]} - mean[j]) * inverse[j]; }
  // The factor that activation and dropout put on an element.
  double passes(int64_t i, int64_t j, bool relu, const Dropout& dropout) const {
    if (relu && unit(i, j) * weight[j] + bias[j] <= 0) return 0;
    if (!dropout.active()) return 1;
    return keeps(dropout, dropout_row_hash(dropout, i), static_cast<uint32_t>(j)) ? double{dropout.scale()} : 0;
  }
};

const Dropout kDropouts[] = {{}, {0.4f, 77}};

TEST(BatchNorm, Forward) {
  for_sizes([](int64_t n, int64_t d) {
    const Problem p(n, d);
    for (const bool relu : {false, true}) {
      for (const Dropout& dropout : kDropouts) {
        std::vector<double> expected;
        for (int64_t i = 0; i < n; ++i) {
          for (int64_t j = 0; j < d; ++j)
            expected.push_back((p.unit(i, j) * p.weight[j] + p.bias[j]) * p.passes(i, j, relu, dropout));
        }
        check(expected, 1e-5, [&](Threads threads) {
          std::vector<float> y(static_cast<size_t>(n * d));
          batch_norm(p.norm(relu, dropout), p.x.data(), n, y.data(), threads);
          return y;
        });
      }
    }
  });
}

TEST(BatchNorm, BackwardIsTheTextbookFormula) {
  for (const auto& [n, d] : {std::pair<int64_t, int64_t>{1, 5}, {40, 12}, {257, 30}, {70, 1}}) {
    const Problem p(n, d);
    for (const bool relu : {false, true}) {
      for (const Dropout& dropout : kDropouts) {
        std::vector<double> d_x(static_cast<size_t>(n * d)), d_weight, d_bias;
        for (int64_t j = 0; j < d; ++j) {
          double sum = 0, weighted = 0;
          for (int64_t i = 0; i < n; ++i) {
            const double g = p.d_y[i * d + j] * p.passes(i, j, relu, dropout);
            sum += g;
            weighted += g * p.unit(i, j);
          }
          for (int64_t i = 0; i < n; ++i) {
            const double g = p.d_y[i * d + j] * p.passes(i, j, relu, dropout);
            d_x[i * d + j] = p.weight[j] * p.inverse[j] * (g - sum / n - p.unit(i, j) * weighted / n);
          }
          d_weight.push_back(weighted);
          d_bias.push_back(sum);
        }
        std::vector<double> expected = d_x;
        expected.insert(expected.end(), d_weight.begin(), d_weight.end());
        expected.insert(expected.end(), d_bias.begin(), d_bias.end());
        check(expected, 2e-5, [&](Threads threads) {
          std::vector<float> out(static_cast<size_t>(n * d + 2 * d));
          float *of_weight = out.data() + n * d, *of_bias = of_weight + d;
          const BatchNorm norm = p.norm(relu, dropout);
          batch_norm_parameter_gradients(norm, p.x.data(), p.d_y.data(), n, of_bias, of_weight, threads);
          std::vector<float> means(of_weight, of_weight + 2 * d);
          for (float& value : means) value /= static_cast<float>(n);
          batch_norm_backward(norm, p.x.data(), p.d_y.data(), n, means.data() + d, means.data(), out.data(), threads);
          return out;
        });
      }
    }
  }
}

}  // namespace
}  // namespace graphpae::kernels
