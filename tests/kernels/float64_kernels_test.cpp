#include "graphpae/kernels/float64_kernels.h"

#include <gtest/gtest.h>

#include "tests/support/kernel_checks.h"

namespace graphpae::kernels {
namespace {

using test::for_each_target;
using test::for_sizes;
using test::random_floats;

TEST(ExactProduct, ProductAndGradient) {
  for_sizes([&](int64_t n, int64_t d) {
    const auto x = random_floats(n * d, 1);
    // More digits than float32 has.
    std::vector<double> v(static_cast<size_t>(d)), g(static_cast<size_t>(n));
    for (int64_t j = 0; j < d; ++j) v[j] = std::sin(static_cast<double>(j + 1));
    for (int64_t i = 0; i < n; ++i) g[i] = std::cos(static_cast<double>(i));
    std::vector<double> y(static_cast<size_t>(n), 0), d_v(static_cast<size_t>(d), 0.25);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < d; ++j) {
        y[i] += x[i * d + j] * v[j];
        d_v[j] += x[i * d + j] * g[i];
      }
    }
    for_each_target([&] {
      std::vector<double> found(y.size()), gradient(d_v.size(), 0.25);
      exact_product(x.data(), v.data(), n, d, found.data());
      add_exact_gradient(x.data(), g.data(), n, d, gradient.data());
      for (int64_t i = 0; i < n; ++i) ASSERT_NEAR(found[i], y[i], 1e-12) << i;
      for (int64_t j = 0; j < d; ++j) ASSERT_NEAR(gradient[j], d_v[j], 1e-12) << j;
    });
  });
}

}  // namespace
}  // namespace graphpae::kernels
