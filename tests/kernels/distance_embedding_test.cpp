#include "graphpae/kernels/distance_embedding.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "tests/support/kernel_checks.h"
#include "tests/support/kernel_inputs.h"

namespace graphpae::kernels {
namespace {

using test::for_each_target;
using test::random_values;
using Values = std::vector<float>;

// Parameters in the order means, stds, weight1, bias1, weight2, bias2.
using Parameters = std::vector<std::vector<double>>;

struct Case {
  int64_t kernels, hidden, heads, count;
  bool density;
  Values distances, d_out;
  Values parameters[6];

  Case(int64_t g, int64_t k, int64_t h, int64_t m, bool with_density)
      : kernels(g), hidden(k), heads(h), count(m), density(with_density) {
    distances = random_values(m, 1);
    d_out = random_values(m * h, 2);
    parameters[0] = random_values(g, 3, 2);
    parameters[1] = random_values(g, 4);
    for (float& s : parameters[1]) s = s < 0 ? s - 0.3f : s + 0.3f;
    parameters[2] = random_values(g * k, 5, 1 / std::sqrt(g));
    parameters[3] = random_values(k, 6);
    parameters[4] = random_values(k * h, 7, 1 / std::sqrt(k));
    parameters[5] = random_values(h, 8);
  }

  DistanceEmbedding embedding() const {
    return {kernels,
            hidden,
            heads,
            density,
            parameters[0].data(),
            parameters[1].data(),
            parameters[2].data(),
            parameters[3].data(),
            parameters[4].data(),
            parameters[5].data()};
  }
  Values forward(Threads threads) const {
    Values out(count * heads, NAN);
    distance_embedding_forward(embedding(), distances.data(), count, out.data(), threads);
    return out;
  }
  std::vector<Values> backward(Threads threads) const {
    std::vector<Values> g;
    for (const Values& p : parameters) g.emplace_back(p.size(), NAN);
    distance_embedding_backward(embedding(), distances.data(), count, d_out.data(),
                                {g[0].data(), g[1].data(), g[2].data(), g[3].data(), g[4].data(), g[5].data()},
                                threads);
    return g;
  }

  Parameters in_double() const {
    Parameters p;
    for (const Values& v : parameters) p.emplace_back(v.begin(), v.end());
    return p;
  }
  std::vector<double> plain(const Parameters& p) const {
    std::vector<double> out, g(kernels);
    for (const float distance : distances) {
      for (int64_t k = 0; k < kernels; ++k) {
        const double s = std::abs(p[1][k]) + 1e-5, u = (distance - p[0][k]) / s;
        g[k] = std::exp(-0.5 * u * u) / (density ? std::sqrt(2 * M_PI) * s : 1.0);
      }
      std::vector<double> row = p[5];
      for (int64_t o = 0; o < hidden; ++o) {
        double z = p[3][o];
        for (int64_t k = 0; k < kernels; ++k) z += g[k] * p[2][k * hidden + o];
        const double a = 0.5 * z * (1 + std::erf(z / std::sqrt(2.0)));
        for (int64_t h = 0; h < heads; ++h) row[h] += a * p[4][o * heads + h];
      }
      out.insert(out.end(), row.begin(), row.end());
    }
    return out;
  }
  double objective(const Parameters& p) const {
    const auto out = plain(p);
    double sum = 0;
    for (size_t k = 0; k < out.size(); ++k) sum += out[k] * d_out[k];
    return sum;
  }
};

struct Shape {
  int64_t kernels, hidden, heads, count;
};

TEST(DistanceEmbedding, MatchesAPlainLoop) {
  for_each_target([] {
    for (const Shape s : {Shape{128, 128, 4, 300}, {1, 1, 1, 1}, {5, 33, 3, 97}, {20, 7, 8, 96}, {12, 40, 9, 50}}) {
      for (const bool density : {true, false}) {
        const Case c(s.kernels, s.hidden, s.heads, s.count, density);
        const auto out = c.forward({2});
        const auto expected = c.plain(c.in_double());
        for (size_t k = 0; k < out.size(); ++k) ASSERT_NEAR(out[k], expected[k], 1e-5 * (1 + std::abs(expected[k])));
      }
    }
  });
}

TEST(DistanceEmbedding, GradientsMatchFiniteDifferences) {
  for_each_target([] {
    for (const Shape s : {Shape{128, 128, 4, 5}, {1, 1, 1, 3}, {5, 33, 3, 97}, {20, 7, 8, 20}, {12, 40, 9, 10}}) {
      for (const bool density : {true, false}) {
        const Case c(s.kernels, s.hidden, s.heads, s.count, density);
        const auto gradients = c.backward({2});
        Parameters p = c.in_double();
        for (size_t which = 0; which < p.size(); ++which) {
          const size_t step = 1 + p[which].size() / 20;
          for (size_t k = 0; k < p[which].size(); k += step) {
            const double kept = p[which][k], by = 1e-5;
            p[which][k] = kept + by;
            const double above = c.objective(p);
            p[which][k] = kept - by;
            const double expected = (above - c.objective(p)) / (2 * by);
            p[which][k] = kept;
            ASSERT_NEAR(gradients[which][k], expected, 2e-5 * (1 + std::abs(expected)))
                << "parameter " << which << " at " << k;
          }
        }
      }
    }
  });
}

TEST(DistanceEmbedding, AnyNumberOfThreadsGivesTheSameBits) {
  const Case c(20, 40, 3, 7000, true);
  const auto out = c.forward({1});
  const auto gradients = c.backward({1});
  for (const int count : {2, 8}) {
    EXPECT_EQ(std::memcmp(out.data(), c.forward({count}).data(), out.size() * 4), 0);
    const auto others = c.backward({count});
    for (int which = 0; which < 6; ++which)
      EXPECT_EQ(std::memcmp(gradients[which].data(), others[which].data(), others[which].size() * 4), 0) << which;
  }
}

TEST(DistanceEmbedding, NoDistancesGiveZeroGradients) {
  const Case c(6, 9, 4, 0, true);
  EXPECT_TRUE(c.forward({2}).empty());
  for (const Values& gradient : c.backward({2})) EXPECT_EQ(gradient, Values(gradient.size(), 0.0f));
}

TEST(DistanceEmbedding, FarDistancesGiveTheBiasAlone) {
  Case c(6, 9, 4, 3, true);
  for (float& p : c.distances) p = 1e6f;
  for (float& b : c.parameters[3]) b = 0;
  const auto out = c.forward({1});
  for (size_t k = 0; k < out.size(); ++k) EXPECT_EQ(out[k], c.parameters[5][k % 4]);
}

}  // namespace
}  // namespace graphpae::kernels
