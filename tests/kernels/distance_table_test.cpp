#include "graphpae/kernels/distance_table.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "graphpae/core/rng.h"
#include "tests/support/kernel_checks.h"

namespace graphpae::kernels {
namespace {

using test::for_each_target;
using Values = std::vector<float>;

// Of the largest magnitude of `out` and of each gradient. The exact kernel in float32 is within 3e-6 as well.
constexpr double kBound = 3e-6;

struct Shape {
  int64_t kernels, hidden, heads, count;
};

// Parameters as they are initialised: means and stds uniform in (0, range). Distances are 0 or log-uniform in
// (0.0001, 1). d_out is zero but for every `step`-th distance, which the plain loops visit.
struct Case {
  Shape shape;
  bool density;
  int64_t step;
  Values distances, d_out;
  Values parameters[6];

  Case(Shape s, bool with_density, double range, uint64_t seed, int64_t every = 1)
      : shape(s), density(with_density), step(every), distances(s.count), d_out(s.count * s.heads, 0.0f) {
    const Rng where(seed, 1), zero(seed, 2), gradient(seed, 3);
    for (int64_t i = 0; i < s.count; ++i)
      distances[i] = zero.uniform(i) < 0.15 ? 0.0f : static_cast<float>(std::pow(10.0, 4 * where.uniform(i) - 4));
    for (int64_t i = 0; i < s.count; i += step) {
      for (int64_t h = 0; h < s.heads; ++h)
        d_out[i * s.heads + h] = static_cast<float>(1 + gradient.normal(i * s.heads + h));
    }
    const int64_t sizes[6] = {s.kernels, s.kernels, s.kernels * s.hidden, s.hidden, s.hidden * s.heads, s.heads};
    for (int which = 0; which < 6; ++which) {
      const Rng rng(seed, 10 + which);
      const double bound = 1 / std::sqrt(which < 4 ? s.kernels : s.hidden);
      for (int64_t k = 0; k < sizes[which]; ++k)
        parameters[which].push_back(
            static_cast<float>(which < 2 ? range * rng.uniform(k) : bound * (2 * rng.uniform(k) - 1)));
    }
  }

  DistanceEmbedding embedding() const {
    return {shape.kernels,        shape.hidden,         shape.heads,          density,
            parameters[0].data(), parameters[1].data(), parameters[2].data(), parameters[3].data(),
            parameters[4].data(), parameters[5].data()};
  }
  DistanceGrid grid(Threads threads = {2}) const {
    return make_distance_grid(embedding(), distances.data(), shape.count, threads);
  }
  Values forward(const DistanceGrid& grid, Threads threads = {2}) const {
    Values out(shape.count * shape.heads, NAN);
    table_forward(embedding(), grid, out.data(), threads);
    return out;
  }
  Values exact_forward() const {
    Values out(shape.count * shape.heads, NAN);
    distance_embedding_forward(embedding(), distances.data(), shape.count, out.data(), {2});
    return out;
  }
  std::vector<Values> backward(const DistanceGrid& grid, Threads threads = {2}) const {
    std::vector<Values> g;
    for (const Values& p : parameters) g.emplace_back(p.size(), NAN);
    table_backward(embedding(), grid, d_out.data(),
                   {g[0].data(), g[1].data(), g[2].data(), g[3].data(), g[4].data(), g[5].data()}, threads);
    return g;
  }
};

struct Errors {
  double out = 0;            // of every `step`-th distance, of the largest one
  double gradients[6] = {};  // each of its largest one
};

// Against plain loops in double.
Errors errors(const Case& c, const Values& out, const std::vector<Values>& gradients) {
  const auto [kernels, hidden, heads, count] = c.shape;
  std::vector<double> expected[6], g(kernels), u(kernels), s(kernels), z(hidden), d_z(hidden), row(heads);
  for (int which = 0; which < 6; ++which) expected[which].assign(c.parameters[which].size(), 0.0);
  const Values &w1 = c.parameters[2], &w2 = c.parameters[4];
  Errors result;
  double largest_out = 0;
  for (int64_t i = 0; i < count; i += c.step) {
    const float* d_out = c.d_out.data() + i * heads;
    for (int64_t j = 0; j < hidden; ++j) z[j] = c.parameters[3][j];
    for (int64_t k = 0; k < kernels; ++k) {
      s[k] = std::abs(static_cast<double>(c.parameters[1][k])) + 1e-5;
      u[k] = (static_cast<double>(c.distances[i]) - c.parameters[0][k]) / s[k];
      g[k] = std::exp(-0.5 * u[k] * u[k]) / (c.density ? kGaussianFactor * s[k] : 1.0);
      for (int64_t j = 0; j < hidden; ++j) z[j] += g[k] * w1[k * hidden + j];
    }
    for (int64_t h = 0; h < heads; ++h) {
      row[h] = c.parameters[5][h];
      expected[5][h] += d_out[h];
    }
    for (int64_t j = 0; j < hidden; ++j) {
      const double normal = 0.5 * (1 + std::erf(z[j] / std::sqrt(2.0)));
      d_z[j] = 0;
      for (int64_t h = 0; h < heads; ++h) {
        row[h] += z[j] * normal * w2[j * heads + h];
        expected[4][j * heads + h] += z[j] * normal * d_out[h];
        d_z[j] += static_cast<double>(d_out[h]) * w2[j * heads + h];
      }
      d_z[j] *= normal + z[j] * std::exp(-0.5 * z[j] * z[j]) / std::sqrt(2 * M_PI);
      expected[3][j] += d_z[j];
    }
    for (int64_t k = 0; k < kernels; ++k) {
      double d_g = 0;
      for (int64_t j = 0; j < hidden; ++j) {
        d_g += d_z[j] * w1[k * hidden + j];
        expected[2][k * hidden + j] += g[k] * d_z[j];
      }
      expected[0][k] += d_g * g[k] * u[k] / s[k];
      const double d_s = d_g * g[k] * (u[k] * u[k] - (c.density ? 1 : 0)) / s[k];
      const float std = c.parameters[1][k];
      expected[1][k] += std > 0 ? d_s : std < 0 ? -d_s : 0.0;
    }
    for (int64_t h = 0; h < heads; ++h) {
      largest_out = std::max(largest_out, std::abs(row[h]));
      const double error = std::abs(out[i * heads + h] - row[h]);
      result.out = error <= result.out ? result.out : error;  // NaN stays
    }
  }
  result.out /= largest_out;
  for (int which = 0; which < 6; ++which) {
    double largest = 0, error = 0;
    for (size_t k = 0; k < expected[which].size(); ++k) {
      largest = std::max(largest, std::abs(expected[which][k]));
      const double e = std::abs(gradients[which][k] - expected[which][k]);
      error = e <= error ? error : e;
    }
    result.gradients[which] = error / largest;
  }
  return result;
}

void expect_small_errors(const Case& c, const DistanceGrid& grid) {
  const Errors e = errors(c, c.forward(grid), c.backward(grid));
  EXPECT_LE(e.out, kBound);
  for (int which = 0; which < 6; ++which) EXPECT_LE(e.gradients[which], kBound) << "parameter " << which;
}

bool same_bits(const Values& a, const Values& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(float)) == 0;
}

TEST(DistanceTable, MatchesPlainLoops) {
  for_each_target([] {
    for (const int64_t heads : {1, 4, 8, 3}) {
      for (const bool density : {true, false}) {
        for (const double range : {0.1, 3.0}) {
          SCOPED_TRACE(testing::Message() << heads << " heads, density " << density << ", range " << range);
          const Case c({24, 17, heads, 15000}, density, range, 5, 11);
          const DistanceGrid grid = c.grid();
          EXPECT_LT(grid.points.size(), 5000u);
          EXPECT_GT(grid.tabulated, 1000);
          expect_small_errors(c, grid);
        }
      }
    }
  });
}

TEST(DistanceTable, ErrorsAreWithinTheBound) {
  int tables = 0;
  double worst_out = 0, worst_gradient = 0;
  for (uint64_t seed = 0; seed < 50; ++seed) {
    SCOPED_TRACE(seed);
    const Case c({128, 40, 4, 60000}, seed % 4 != 3, seed % 5 == 4 ? 3.0 : 0.1, 100 + seed, 61);
    const DistanceGrid grid = c.grid();
    EXPECT_LT(grid.points.size(), 30000u);
    tables += grid.tabulated > 1000;
    const Errors e = errors(c, c.forward(grid), c.backward(grid));
    EXPECT_LE(e.out, kBound);
    for (int which = 0; which < 6; ++which) EXPECT_LE(e.gradients[which], kBound) << "parameter " << which;
    worst_out = std::max(worst_out, e.out);
    worst_gradient = std::max(worst_gradient, *std::max_element(e.gradients, e.gradients + 6));
  }
  EXPECT_EQ(tables, 50);
  RecordProperty("worst_out", std::to_string(worst_out * 1e6) + "e-6");
  RecordProperty("worst_gradient", std::to_string(worst_gradient * 1e6) + "e-6");
}

TEST(DistanceTable, ResolvesANarrowGaussianInRange) {
  Case c({128, 40, 4, 100000}, true, 0.1, 3, 67);
  c.parameters[1][7] = 0;  // s = 1e-5
  c.parameters[0][7] = 0.03f;
  for (int64_t i = 0; i < c.shape.count; i += 10 * c.step) c.distances[i] = 0.03f + 1e-6f * static_cast<float>(i % 19);
  // The other grid would be wrong, and one of its own is right.
  const DistanceGrid own = c.grid();
  EXPECT_LT(own.points.size(), 30000u);
  Case typical = c;
  typical.parameters[1][7] = 0.05f;
  const DistanceGrid other = typical.grid();
  EXPECT_GT(errors(c, c.forward(other), c.backward(other)).out, 1e-3);
  expect_small_errors(c, own);
}

TEST(DistanceTable, AnyNumberOfThreadsGivesTheSameBits) {
  const Case c({20, 40, 3, 30000}, true, 0.1, 4);
  const DistanceGrid grid = c.grid({1});
  EXPECT_GT(grid.tabulated, 1000);
  EXPECT_GT(static_cast<int64_t>(grid.points.size()), grid.tabulated);
  const Values out = c.forward(grid, {1});
  const auto gradients = c.backward(grid, {1});
  for (const int count : {2, 8}) {
    const DistanceGrid other = c.grid({count});
    EXPECT_TRUE(same_bits(grid.points, other.points));
    EXPECT_TRUE(same_bits(out, c.forward(other, {count})));
    const auto others = c.backward(other, {count});
    for (int which = 0; which < 6; ++which) EXPECT_TRUE(same_bits(gradients[which], others[which])) << which;
  }
}

TEST(DistanceTable, NoDistancesGiveZeroGradients) {
  const Case c({6, 9, 4, 0}, true, 0.1, 1);
  const DistanceGrid grid = c.grid();
  EXPECT_TRUE(c.forward(grid).empty());
  for (const Values& gradient : c.backward(grid)) EXPECT_EQ(gradient, Values(gradient.size(), 0.0f));
}

TEST(DistanceTable, ZeroAndFewDistancesAreExact) {
  for_each_target([] {
    for (const int64_t count : {1, 20, 20000}) {
      Case c({12, 10, 4, count}, true, 0.1, 6);
      if (count > 20) std::fill(c.distances.begin(), c.distances.end(), 0.0f);
      const DistanceGrid grid = c.grid();
      EXPECT_EQ(grid.tabulated, 1);
      if (count > 20) {
        EXPECT_EQ(grid.points, Values{0.0f});
      }
      EXPECT_TRUE(same_bits(c.forward(grid), c.exact_forward()));
      expect_small_errors(c, grid);
    }
  });
}

TEST(DistanceTable, ZerosAmongOtherDistancesAreExact) {
  const Case c({24, 17, 4, 30000}, true, 0.1, 7);
  const Values out = c.forward(c.grid()), exact = c.exact_forward();
  int zeros = 0;
  for (size_t k = 0; k < out.size(); ++k) {
    if (c.distances[k / 4] != 0) continue;
    ASSERT_EQ(out[k], exact[k]);
    ++zeros;
  }
  EXPECT_GT(zeros, 10000);
}

TEST(DistanceTable, ManyDistancesAtBordersAndTheLargestAreRight) {
  for_each_target([] {
    Case c({24, 17, 4, 30000}, true, 0.1, 8);
    const DistanceGrid grid = c.grid();
    for (int64_t i = 0; i < c.shape.count; i += 3) {
      if (i % 2 == 0) {
        c.distances[i] = 1.0f;
      } else {
        const float border = grid.bins[i / 6 % grid.bins.size()].start;
        c.distances[i] = i % 4 == 1 ? border : std::nextafter(border, i % 8 == 3 ? 0.0f : 2.0f);
      }
    }
    expect_small_errors(c, c.grid());
    std::fill(c.distances.begin(), c.distances.end(), 0.7f);
    const DistanceGrid one = c.grid();
    EXPECT_LT(one.points.size(), 100u);
    expect_small_errors(c, one);
  });
}

TEST(DistanceTable, StrangeDistancesAreAsInTheExactKernel) {
  Case c({24, 17, 4, 30000}, true, 0.1, 9);
  const float inf = std::numeric_limits<float>::infinity();
  const Values strange = {NAN, inf, -0.01f, -0.0f, 1e-42f, 1e-20f, 1e20f, 3e38f, -inf};
  for (size_t i = 0; i < strange.size(); ++i) c.distances[1000 * i] = strange[i];
  const Values out = c.forward(c.grid()), exact = c.exact_forward();
  for (size_t i = 0; i < strange.size(); ++i) {
    for (int h = 0; h < 4; ++h) {
      const float a = out[4000 * i + h], b = exact[4000 * i + h];
      if (std::isnan(b)) {
        EXPECT_TRUE(std::isnan(a)) << strange[i];
      } else {
        EXPECT_NEAR(a, b, 3e-6 * (1 + std::abs(b))) << strange[i];
      }
    }
  }
}

}  // namespace
}  // namespace graphpae::kernels
