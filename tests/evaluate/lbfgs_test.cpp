#include "graphpae/evaluate/lbfgs.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>

namespace graphpae {
namespace {

using Function = std::function<double(const std::vector<double>&, std::vector<double>&)>;

void minimise(Lbfgs& search, const Function& f) {
  std::vector<double> gradient(search.point().size());
  while (!search.done()) {
    const double value = f(search.point(), gradient);
    search.tell(value, gradient);
  }
}

// sum_i (i+1)^2 (x_i - i)^2 with a wide range of curvatures.
double bowl(const std::vector<double>& x, std::vector<double>& gradient) {
  double value = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double scale = static_cast<double>((i + 1) * (i + 1)), away = x[i] - static_cast<double>(i);
    value += scale * away * away;
    gradient[i] = 2 * scale * away;
  }
  return value;
}

TEST(Lbfgs, FindsTheMinimumOfABowl) {
  Lbfgs search(std::vector<double>(30, 5.0), {.tolerance = 1e-9});
  minimise(search, bowl);
  EXPECT_TRUE(search.converged());
  EXPECT_LT(search.evaluations(), 400);  // plain gradient descent needs thousands
  for (size_t i = 0; i < 30; ++i) EXPECT_NEAR(search.best()[i], static_cast<double>(i), 1e-8);
}

TEST(Lbfgs, FindsTheMinimumInACurvedValley) {
  Lbfgs search({-1.2, 1.0}, {.tolerance = 1e-8});
  minimise(search, [](const std::vector<double>& x, std::vector<double>& g) {
    const double a = 1 - x[0], b = x[1] - x[0] * x[0];
    g = {-2 * a - 400 * x[0] * b, 200 * b};
    return a * a + 100 * b * b;
  });
  EXPECT_TRUE(search.converged());
  EXPECT_NEAR(search.best()[0], 1, 1e-6);
  EXPECT_NEAR(search.best()[1], 1, 1e-6);
}

TEST(Lbfgs, StartsAtTheMinimum) {
  Lbfgs search({0.0, 1.0, 2.0});
  minimise(search, bowl);
  EXPECT_TRUE(search.converged());
  EXPECT_EQ(search.evaluations(), 1);
  EXPECT_EQ(search.best(), (std::vector<double>{0, 1, 2}));
}

TEST(Lbfgs, SaysWhenItRunsOutOfEvaluations) {
  Lbfgs search(std::vector<double>(30, 5.0), {.max_evaluations = 5, .tolerance = 1e-9});
  minimise(search, bowl);
  EXPECT_FALSE(search.converged());
  EXPECT_EQ(search.evaluations(), 5);
}

// Values rounded so coarsely that no step seems to help any more: that is an end, too.
TEST(Lbfgs, EndsWhereRoundingHidesTheSlope) {
  Lbfgs search(std::vector<double>(5, 3.0), {.tolerance = 0});
  minimise(search,
           [](const std::vector<double>& x, std::vector<double>& g) { return std::round(bowl(x, g) * 1e6) / 1e6; });
  EXPECT_TRUE(search.converged());
  for (size_t i = 0; i < 5; ++i) EXPECT_NEAR(search.best()[i], static_cast<double>(i), 1e-3);
}

}  // namespace
}  // namespace graphpae
