#include "graphpae/kernels/position_loss.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <cmath>
#include <cstring>
#include <functional>
#include <numeric>
#include <vector>

#include "tests/support/kernel_checks.h"
#include "tests/support/kernel_inputs.h"

namespace graphpae::kernels {
namespace {

using test::for_each_target;
using test::hub_graph;
using test::random_values;
using Values = std::vector<float>;

// refined, then the parameters in the order weight1, bias1, norm_weight, norm_bias, weight2, bias2.
using Inputs = std::vector<std::vector<double>>;

struct Case {
  EdgeIndex edges;
  int64_t heads, hidden;
  std::vector<int32_t> pairs;
  Values weights, distances, inputs[7];

  // Every second pair.
  Case(int64_t nodes, int64_t h, int64_t k) : edges(hub_graph(nodes)), heads(h), hidden(k) {
    for (int64_t q = 0; q < edges.num_pairs(); q += 2) pairs.push_back(static_cast<int32_t>(q));
    distances = random_values(pairs.size(), 1);
    for (size_t q = 0; q < pairs.size(); ++q) weights.push_back(q % 3 == 0 ? 2.0f : 1.0f);
    inputs[0] = random_values(edges.num_edges() * h, 2);
    inputs[1] = random_values(h * k, 3);
    inputs[2] = random_values(k, 4);
    inputs[3] = random_values(k, 5);
    inputs[4] = random_values(k, 6);
    inputs[5] = random_values(k, 7, 1 / std::sqrt(k));
    inputs[6] = random_values(1, 8);
  }

  PositionDecoder decoder() const {
    return {heads,
            hidden,
            inputs[1].data(),
            inputs[2].data(),
            inputs[3].data(),
            inputs[4].data(),
            inputs[5].data(),
            inputs[6].data()};
  }
  PositionTargets targets() const {
    return {static_cast<int64_t>(pairs.size()), pairs.data(), weights.data(), distances.data()};
  }
  double loss(Threads threads, std::vector<Values>& g) const {
    g.clear();
    for (const Values& input : inputs) g.emplace_back(input.size(), NAN);
    const PositionDecoderGradients gradients{g[1].data(), g[2].data(), g[3].data(),
                                             g[4].data(), g[5].data(), g[6].data()};
    return position_loss(edges, decoder(), targets(), inputs[0].data(), g[0].data(), gradients, threads);
  }

  Inputs in_double() const {
    Inputs p;
    for (const Values& v : inputs) p.emplace_back(v.begin(), v.end());
    return p;
  }
  double decode(const Inputs& p, int64_t edge) const {
    std::vector<double> a(hidden);
    double mean = 0, variance = 0, sum = p[6][0];
    for (int64_t k = 0; k < hidden; ++k) {
      double z = p[2][k];
      for (int64_t h = 0; h < heads; ++h) z += p[0][edge * heads + h] * p[1][h * hidden + k];
      a[k] = 0.5 * z * (1 + std::erf(z / std::sqrt(2.0)));
      mean += a[k] / hidden;
    }
    for (const double v : a) variance += (v - mean) * (v - mean) / hidden;
    for (int64_t k = 0; k < hidden; ++k)
      sum += p[5][k] * ((a[k] - mean) / std::sqrt(variance + 1e-5) * p[3][k] + p[4][k]);
    return sum;
  }
  std::vector<double> plain(const Inputs& p) const {
    std::vector<double> predictions;
    for (const int32_t q : pairs)
      predictions.push_back((decode(p, edges.pair_forward()[q]) + decode(p, edges.pair_backward()[q])) / 2);
    return predictions;
  }
  double plain_loss(const Inputs& p) const {
    const auto predictions = plain(p);
    double sum = 0, weight = 0;
    for (size_t q = 0; q < pairs.size(); ++q) {
      const double size = std::abs(predictions[q] - distances[q]);
      sum += weights[q] * (size < 1 ? size * size / 2 : size - 0.5);
      weight += weights[q];
    }
    return weight > 0 ? sum / weight : 0;
  }
};

struct Shape {
  int64_t nodes, heads, hidden;
};

TEST(PositionLoss, MatchesAPlainLoop) {
  for_each_target([] {
    for (const Shape s : {Shape{60, 4, 128}, {20, 1, 7}, {30, 3, 33}, {12, 8, 16}, {50, 9, 5}}) {
      const Case c(s.nodes, s.heads, s.hidden);
      std::vector<Values> gradients;
      EXPECT_NEAR(c.loss({2}, gradients), c.plain_loss(c.in_double()), 1e-5) << s.heads;
      Case one = c;  // the loss of each pair alone tells its prediction
      for (const int32_t pair : c.pairs) {
        one.pairs = {pair};
        ASSERT_NEAR(one.loss({1}, gradients), one.plain_loss(one.in_double()), 4e-5) << s.heads;
      }
    }
  });
}

TEST(PositionLoss, GradientsMatchFiniteDifferences) {
  for_each_target([] {
    for (const Shape s : {Shape{30, 4, 128}, {12, 1, 7}, {14, 3, 33}, {12, 8, 16}, {12, 9, 10}}) {
      const Case c(s.nodes, s.heads, s.hidden);
      std::vector<Values> gradients;
      c.loss({2}, gradients);
      Inputs p = c.in_double();
      for (size_t which = 0; which < p.size(); ++which) {
        const size_t step = 1 + p[which].size() / 60;
        for (size_t k = 0; k < p[which].size(); k += step) {
          const double kept = p[which][k], by = 1e-6;
          p[which][k] = kept + by;
          const double above = c.plain_loss(p);
          p[which][k] = kept - by;
          const double expected = (above - c.plain_loss(p)) / (2 * by);
          p[which][k] = kept;
          ASSERT_NEAR(gradients[which][k], expected, 2e-6 + 1e-5 * std::abs(expected))
              << "input " << which << " at " << k << ", " << s.heads << " heads";
        }
      }
    }
  });
}

TEST(PositionLoss, EdgesOfNoPairHaveNoGradient) {
  const Case c(40, 4, 32);
  std::vector<Values> gradients;
  c.loss({1}, gradients);
  int64_t zeros = 0;
  for (int64_t e = 0; e < c.edges.num_edges(); ++e) {
    const int64_t pair = c.edges.pair_of_edge()[e];
    if (pair < c.edges.num_pairs() && pair % 2 == 0) continue;
    ++zeros;
    for (int64_t h = 0; h < 4; ++h) EXPECT_EQ(gradients[0][e * 4 + h], 0.0f);
  }
  EXPECT_GT(zeros, c.edges.num_edges() / 3);
}

TEST(PositionLoss, WithoutPairsAllIsZero) {
  Case c(20, 4, 16);
  c.pairs.clear();
  std::vector<Values> gradients;
  EXPECT_EQ(c.loss({2}, gradients), 0.0);
  for (const Values& gradient : gradients) EXPECT_EQ(gradient, Values(gradient.size(), 0.0f));
}

TEST(PositionLoss, AnyNumberOfThreadsGivesTheSameBits) {
  const Case c(2000, 3, 20);
  std::vector<Values> gradients, others;
  const double loss = c.loss({1}, gradients);
  for (const int count : {2, 8}) {
    EXPECT_EQ(loss, c.loss({count}, others));
    for (size_t which = 0; which < gradients.size(); ++which)
      EXPECT_EQ(std::memcmp(gradients[which].data(), others[which].data(), others[which].size() * 4), 0) << which;
  }
}

}  // namespace
}  // namespace graphpae::kernels
