#include "graphpae/kernels/adam.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

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

struct Naive {
  double p, m = 0, v = 0;
};

void naive_step(const UpdateOptions& o, int64_t t, double g, Naive& x) {
  if (o.rule == UpdateRule::kAdamW) {
    x.p *= 1 - o.rate * o.weight_decay;
  } else {
    g += o.weight_decay * x.p;
  }
  if (o.rule == UpdateRule::kSgd) {
    x.p -= o.rate * g;
    return;
  }
  x.m = o.beta1 * x.m + (1 - o.beta1) * g;
  x.v = o.beta2 * x.v + (1 - o.beta2) * g * g;
  const double root = std::sqrt(x.v) / std::sqrt(1 - std::pow(o.beta2, t));
  x.p -= o.rate / (1 - std::pow(o.beta1, t)) * x.m / (root + o.epsilon);
}

TEST(Adam, MatchesLoopsOverSteps) {
  for (const UpdateRule rule : {UpdateRule::kAdam, UpdateRule::kAdamW, UpdateRule::kSgd}) {
    for (const int64_t n : {0, 1, 7, 40, 257, 100003}) {
      SCOPED_TRACE(testing::Message() << "rule " << static_cast<int>(rule) << ", n " << n);
      const UpdateOptions options{.rule = rule, .rate = 0.01, .weight_decay = 0.1};
      const auto start = random_floats(n, 1);
      constexpr int kSteps = 5;
      std::vector<Naive> naive;
      for (const float value : start) naive.push_back({value});
      std::vector<std::vector<float>> gradients;
      for (int t = 1; t <= kSteps; ++t) {
        gradients.push_back(random_floats(n, 100 + t));
        for (int64_t i = 0; i < n; ++i) naive_step(options, t, gradients.back()[i], naive[i]);
      }
      std::vector<double> expected;
      for (const Naive& x : naive) expected.push_back(x.p);
      for_each_target([&](const std::vector<int>& counts) {
        std::vector<float> first;
        for (const int threads : counts) {
          auto p = start;
          std::vector<float> m(start.size(), 0.0f), v(start.size(), 0.0f);
          for (int t = 1; t <= kSteps; ++t) {
            update_parameter(options, t, gradients[t - 1].data(), n, p.data(), m.data(), v.data(), Threads{threads});
          }
          if (threads == 1) {
            expect_close(p, expected, 2e-6);
            first = p;
          }
          EXPECT_TRUE(same_bits(first, p));
        }
      });
    }
  }
}

TEST(Adam, ZeroGradientLeavesTheParameter) {
  std::vector<float> p = {1, 2, 3}, g(3, 0.0f), m(3, 0.0f), v(3, 0.0f);
  update_parameter({}, 1, g.data(), 3, p.data(), m.data(), v.data(), Threads{1});
  EXPECT_EQ(p, (std::vector<float>{1, 2, 3}));
}

}  // namespace
}  // namespace graphpae::kernels
