#include "graphpae/kernels/attention.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "tests/support/kernel_checks.h"
#include "tests/support/kernel_inputs.h"

namespace graphpae::kernels {
namespace {

using test::for_each_target;
using test::hub_graph;
using test::random_values;
using Values = std::vector<float>;
constexpr float kSlope = 0.2f;

struct Case {
  EdgeIndex edges;
  int64_t heads;
  Values source, target, positions, d_alpha, d_refined;

  Case(EdgeIndex index, int64_t h) : edges(std::move(index)), heads(h) {
    const size_t per_node = edges.num_nodes() * h, per_edge = edges.num_edges() * h;
    source = random_values(per_node, 1, 2);
    target = random_values(per_node, 2, 2);
    positions = random_values(per_edge, 3, 2);
    d_alpha = random_values(per_edge, 4, 2);
    d_refined = random_values(per_edge, 5, 2);
  }

  struct Results {
    Values refined, alpha, d_logit, d_source, d_target;
  };
  Results run(Threads threads, bool with_d_refined = true) const {
    Results r{positions, positions, positions, source, target};
    attention_forward(edges, heads, kSlope, source.data(), target.data(), positions.data(), r.refined.data(),
                      r.alpha.data(), threads);
    attention_backward(edges, heads, kSlope, r.refined.data(), r.alpha.data(), d_alpha.data(),
                       with_d_refined ? d_refined.data() : nullptr, r.d_logit.data(), r.d_source.data(),
                       r.d_target.data(), threads);
    return r;
  }

  // alpha and refined in double.
  struct Plain {
    std::vector<double> refined, alpha;
  };
  Plain plain(const std::vector<double>& s, const std::vector<double>& t, const std::vector<double>& p) const {
    Plain r{p, p};
    for (int64_t i = 0; i < edges.num_nodes(); ++i) {
      for (int64_t h = 0; h < heads; ++h) {
        double sum = 0;
        for (int64_t e = edges.offsets()[i]; e < edges.offsets()[i + 1]; ++e) {
          const double x = s[edges.sources()[e] * heads + h] + t[i * heads + h] + p[e * heads + h];
          r.refined[e * heads + h] = x;
          sum += r.alpha[e * heads + h] = std::exp(x > 0 ? x : double{kSlope} * x);
        }
        for (int64_t e = edges.offsets()[i]; e < edges.offsets()[i + 1]; ++e) r.alpha[e * heads + h] /= sum;
      }
    }
    return r;
  }
  // What d_alpha and d_refined are the gradients of.
  double objective(const std::vector<double>& s, const std::vector<double>& t, const std::vector<double>& p) const {
    const Plain r = plain(s, t, p);
    double sum = 0;
    for (size_t k = 0; k < p.size(); ++k) sum += r.alpha[k] * d_alpha[k] + r.refined[k] * d_refined[k];
    return sum;
  }
};

std::vector<double> in_double(const Values& v) { return {v.begin(), v.end()}; }

TEST(Attention, MatchesAPlainSoftmaxForAnyNumberOfHeads) {
  for_each_target([] {
    for (const int64_t heads : {1, 2, 3, 4, 5, 8, 16, 64}) {
      for (const bool loops : {true, false}) {
        const Case c(hub_graph(40, loops), heads);
        const auto r = c.run({2});
        const auto expected = c.plain(in_double(c.source), in_double(c.target), in_double(c.positions));
        for (size_t k = 0; k < r.alpha.size(); ++k) {
          ASSERT_NEAR(r.refined[k], expected.refined[k], 2e-6) << heads << " heads, " << k;
          ASSERT_NEAR(r.alpha[k], expected.alpha[k], 1e-6) << heads << " heads, " << k;
        }
      }
    }
  });
}

TEST(Attention, GradientsMatchFiniteDifferences) {
  for_each_target([] {
    for (const int64_t heads : {1, 3, 4, 8}) {
      const Case c(hub_graph(14, true), heads);
      const auto r = c.run({2});
      const std::vector<double> inputs[3] = {in_double(c.source), in_double(c.target), in_double(c.positions)};
      const Values* gradients[3] = {&r.d_source, &r.d_target, &r.d_logit};
      for (int which = 0; which < 3; ++which) {
        for (size_t k = 0; k < inputs[which].size(); k += 3) {
          const auto at = [&](double step) {
            std::vector<double> moved[3] = {inputs[0], inputs[1], inputs[2]};
            moved[which][k] += step;
            return c.objective(moved[0], moved[1], moved[2]);
          };
          ASSERT_NEAR((*gradients[which])[k], (at(1e-5) - at(-1e-5)) / 2e-5, 3e-5)
              << heads << " heads, input " << which << ", " << k;
        }
      }
    }
  });
}

TEST(Attention, WithoutAGradientOfTheRefinedPositionsItIsZero) {
  Case c(hub_graph(30, true), 4);
  const auto without = c.run({1}, false);
  std::fill(c.d_refined.begin(), c.d_refined.end(), 0.0f);
  EXPECT_EQ(without.d_logit, c.run({1}).d_logit);
}

TEST(Attention, LargeLogitsDoNotOverflow) {
  for_each_target([] {
    for (const int64_t heads : {3, 4}) {
      Case c(hub_graph(20, true), heads);
      for (float& x : c.positions) x *= 300;
      const auto r = c.run({1});
      for (int64_t i = 0; i < c.edges.num_nodes(); ++i) {
        double sum = 0;
        for (int64_t e = c.edges.offsets()[i]; e < c.edges.offsets()[i + 1]; ++e) sum += r.alpha[e * heads];
        EXPECT_NEAR(sum, 1, 1e-6);
      }
    }
  });
}

TEST(Attention, LogitsOnlySumTheirEnds) {
  for_each_target([] {
    for (const int64_t heads : {1, 3, 4, 8}) {
      const Case c(hub_graph(40, true), heads);
      Values refined = c.positions, d_source = c.source, d_target = c.target;
      attention_forward(c.edges, heads, 0, c.source.data(), c.target.data(), c.positions.data(), refined.data(),
                        nullptr, {2});
      EXPECT_EQ(refined, c.run({1}).refined);
      edge_logits_backward(c.edges, heads, c.d_refined.data(), d_source.data(), d_target.data(), {2});
      std::vector<double> by_source(c.source.size()), by_target(c.source.size());
      for (int64_t e = 0; e < c.edges.num_edges(); ++e) {
        for (int64_t h = 0; h < heads; ++h) {
          by_source[c.edges.sources()[e] * heads + h] += c.d_refined[e * heads + h];
          by_target[c.edges.targets()[e] * heads + h] += c.d_refined[e * heads + h];
        }
      }
      for (size_t k = 0; k < by_source.size(); ++k) {
        ASSERT_NEAR(d_source[k], by_source[k], 1e-4);
        ASSERT_NEAR(d_target[k], by_target[k], 1e-4);
      }
    }
  });
}

TEST(Attention, AnyNumberOfThreadsGivesTheSameBits) {
  for (const int64_t heads : {1, 3, 4, 8}) {
    const Case c(hub_graph(300, true), heads);
    const auto one = c.run({1});
    for (const int count : {2, 8}) {
      const auto many = c.run({count});
      EXPECT_EQ(std::memcmp(one.alpha.data(), many.alpha.data(), one.alpha.size() * 4), 0);
      EXPECT_EQ(std::memcmp(one.refined.data(), many.refined.data(), one.refined.size() * 4), 0);
      EXPECT_EQ(std::memcmp(one.d_logit.data(), many.d_logit.data(), one.d_logit.size() * 4), 0);
      EXPECT_EQ(std::memcmp(one.d_source.data(), many.d_source.data(), one.d_source.size() * 4), 0);
      EXPECT_EQ(std::memcmp(one.d_target.data(), many.d_target.data(), one.d_target.size() * 4), 0);
    }
  }
}

TEST(Attention, NodesWithoutEdgesGetZeroGradients) {
  for (const int64_t nodes : {0, 5}) {
    const Case c(EdgeIndex(Adjacency::from_edges(std::vector<Edge>(), nodes), false), 4);
    const auto r = c.run({2});
    EXPECT_EQ(r.d_source, Values(nodes * 4, 0.0f));
    EXPECT_EQ(r.d_target, Values(nodes * 4, 0.0f));
  }
}

}  // namespace
}  // namespace graphpae::kernels
