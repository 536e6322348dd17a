#include "graphpae/kernels/cosine_error.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <random>
#include <vector>

#include "tests/support/kernel_checks.h"
#include "tests/support/kernel_inputs.h"

namespace graphpae::kernels {
namespace {

using test::dense_copy;
using test::expect_close;
using test::for_each_target;
using test::random_floats;
using test::random_sparse;
using test::same_bits;

constexpr double kSquared = -1;  // in place of gamma: the mean squared error

struct Problem {
  int64_t m, d, f;
  std::vector<int32_t> nodes;
  std::vector<float> targets;  // [N,F]
  Features sparse, dense;
  std::vector<float> parameters;  // h [M,D], w_t [F,D], b [F]
};

Problem make_problem(int64_t m, int64_t d, int64_t f, unsigned seed) {
  Problem p{m, d, f, {}, {}, random_sparse(2 * m + 5, f, 0.3, seed), {}, {}};
  p.targets = dense_copy(p.sparse);
  p.dense = Features::dense(2 * m + 5, f, Buffer<float>(p.targets.begin(), p.targets.end()));
  for (int64_t i = 0; i < m; ++i) p.nodes.push_back(static_cast<int32_t>(2 * i + 1));
  p.parameters = random_floats(m * d + f * d + f, seed + 1);
  return p;
}

// The loss of row m at h, w_t, b given in one array.
double naive_row(const Problem& p, const std::vector<double>& values, int64_t row, double gamma) {
  const double* h = values.data() + row * p.d;
  const double* w = values.data() + p.m * p.d;
  const double* b = w + p.f * p.d;
  double zz = 0, zt = 0, tt = 0, difference = 0;
  for (int64_t j = 0; j < p.f; ++j) {
    double z = b[j];
    for (int64_t c = 0; c < p.d; ++c) z += h[c] * w[j * p.d + c];
    const double t = p.targets[p.nodes[row] * p.f + j];
    zz += z * z;
    zt += z * t;
    tt += t * t;
    difference += (z - t) * (z - t);
  }
  if (gamma == kSquared) return difference / static_cast<double>(p.f);
  const double cosine = zt / (std::max(std::sqrt(zz), 1e-12) * std::max(std::sqrt(tt), 1e-12));
  return std::pow(1 - cosine, gamma);
}

double naive_loss(const Problem& p, const std::vector<double>& values, double gamma) {
  double sum = 0;
  for (int64_t i = 0; i < p.m; ++i) sum += naive_row(p, values, i, gamma);
  return sum / static_cast<double>(p.m);
}

std::vector<double> naive_gradient(const Problem& p, double gamma) {
  std::vector<double> values(p.parameters.begin(), p.parameters.end()), gradient(values.size());
  for (size_t i = 0; i < values.size(); ++i) {
    const double kept = values[i], step = 1e-5;
    values[i] = kept + step;
    const double up = naive_loss(p, values, gamma);
    values[i] = kept - step;
    gradient[i] = (up - naive_loss(p, values, gamma)) / (2 * step);
    values[i] = kept;
  }
  return gradient;
}

// The loss, then d_h, d_w_t, d_b in one array.
double run(const Problem& p, const Features& features, double gamma, ErrorRoute route, ErrorWorkspace& workspace,
           int threads, std::vector<float>& gradient) {
  gradient.assign(p.parameters.size(), NAN);
  const float* h = p.parameters.data();
  const float* w = h + p.m * p.d;
  float* d_h = gradient.data();
  float* d_w = d_h + p.m * p.d;
  if (gamma == kSquared) {
    return squared_error(h, p.d, w, w + p.f * p.d, features, p.nodes, d_h, d_w, d_w + p.f * p.d, workspace,
                         Threads{threads});
  }
  return cosine_error(h, p.d, w, w + p.f * p.d, features, p.nodes, gamma, d_h, d_w, d_w + p.f * p.d, workspace,
                      Threads{threads}, route);
}

TEST(CosineError, LossAndGradientsMatchDifferences) {
  ErrorWorkspace workspace;
  for (const auto& [m, d, f] : {std::array<int64_t, 3>{1, 1, 7}, {7, 7, 40}, {40, 5, 7}, {1, 40, 7}, {13, 3, 65}}) {
    const Problem p = make_problem(m, d, f, 5);
    const std::vector<double> values(p.parameters.begin(), p.parameters.end());
    for (const double gamma : {1.0, 2.0, 2.5, kSquared}) {
      SCOPED_TRACE(testing::Message() << m << " " << d << " " << f << " gamma " << gamma);
      const double loss = naive_loss(p, values, gamma);
      auto expected = naive_gradient(p, gamma);
      for_each_target([&](const std::vector<int>& counts) {
        for (const int form : {0, 1, 2}) {
          if (form == 2 && gamma == kSquared) continue;
          SCOPED_TRACE(form == 0 ? "sparse direct" : form == 1 ? "dense" : "Gram");
          const Features& features = form == 1 ? p.dense : p.sparse;
          const ErrorRoute route = form == 2 ? ErrorRoute::kGram : ErrorRoute::kDirect;
          std::vector<float> first, gradient;
          const double found = run(p, features, gamma, route, workspace, 1, first);
          EXPECT_NEAR(found, loss, 2e-6 * (1 + loss));
          expect_close(first, expected, 2e-5);
          for (const int threads : counts) {
            EXPECT_EQ(run(p, features, gamma, route, workspace, threads, gradient), found);
            EXPECT_TRUE(same_bits(first, gradient));
          }
        }
      });
    }
  }
}

TEST(CosineError, RoutesAgreeOnALargerProblem) {
  const Problem p = make_problem(600, 65, 300, 9);
  ErrorWorkspace workspace;
  std::vector<float> direct, gram, other, automatic;
  const double a = run(p, p.sparse, 2, ErrorRoute::kDirect, workspace, 2, direct);
  const double b = run(p, p.sparse, 2, ErrorRoute::kGram, workspace, 2, gram);
  EXPECT_NEAR(a, b, 1e-6);
  double largest = 0;
  for (const float value : direct) largest = std::max(largest, std::abs(static_cast<double>(value)));
  for (size_t i = 0; i < direct.size(); ++i) ASSERT_NEAR(direct[i], gram[i], 2e-5 * largest);
  for (const int threads : {1, 3, 8}) {
    EXPECT_EQ(run(p, p.sparse, 2, ErrorRoute::kGram, workspace, threads, other), b);
    EXPECT_TRUE(same_bits(gram, other));
    EXPECT_EQ(run(p, p.sparse, 2, ErrorRoute::kDirect, workspace, threads, other), a);
    EXPECT_TRUE(same_bits(direct, other));
  }
  // So many non-zeros make the direct route the cheaper one.
  EXPECT_EQ(run(p, p.sparse, 2, ErrorRoute::kAutomatic, workspace, 2, automatic), a);
  EXPECT_TRUE(same_bits(direct, automatic));
}

TEST(CosineError, NoRowsAndZeroPredictions) {
  ErrorWorkspace workspace;
  std::vector<float> gradient;
  const Problem none = make_problem(0, 4, 6, 1);
  EXPECT_EQ(run(none, none.sparse, 2, ErrorRoute::kAutomatic, workspace, 2, gradient), 0);
  for (const float value : gradient) EXPECT_EQ(value, 0);
  Problem zero = make_problem(3, 4, 6, 1);
  std::fill(zero.parameters.begin(), zero.parameters.end(), 0.0f);
  for (const ErrorRoute route : {ErrorRoute::kDirect, ErrorRoute::kGram}) {
    EXPECT_EQ(run(zero, zero.sparse, 2, route, workspace, 2, gradient), 1);
    for (const float value : gradient) EXPECT_TRUE(std::isfinite(value));
  }
}

TEST(CosineError, TheGramRouteIsChosenByCost) {
  const auto gram_wins = [](int64_t m, int64_t d, int64_t f, int64_t nonzeros) {
    return error_route_cost(ErrorRoute::kGram, m, d, f, nonzeros) <
           error_route_cost(ErrorRoute::kDirect, m, d, f, nonzeros);
  };
  EXPECT_TRUE(gram_wins(2600, 1024, 2089, 45000));
  EXPECT_TRUE(gram_wins(1039, 1024, 8189, 74000));
  EXPECT_FALSE(gram_wins(300, 1024, 500, 5000));
}

}  // namespace
}  // namespace graphpae::kernels
