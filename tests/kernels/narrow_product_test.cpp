#include "graphpae/kernels/narrow_product.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "tests/support/kernel_checks.h"

namespace graphpae::kernels {
namespace {

using test::check;
using test::for_sizes;
using test::kSizes;
using test::random_floats;

TEST(NarrowProduct, HeadLogits) {
  for (const int64_t n : kSizes) {
    for (const auto& [d, heads] : {std::pair<int64_t, int64_t>{0, 1}, {1, 1}, {12, 4}, {40, 1}, {257, 1}, {296, 8}}) {
      SCOPED_TRACE(testing::Message() << n << " x " << d << ", heads " << heads);
      const int64_t width = d / heads;
      const auto x = random_floats(n * d, 1), a = random_floats(d, 2), b = random_floats(d, 3);
      std::vector<double> expected(static_cast<size_t>(2 * n * heads));
      for (int64_t i = 0; i < n * d; ++i) {
        const int64_t place = i / d * heads + i % d / width;
        expected[place] += static_cast<double>(x[i]) * a[i % d];
        expected[n * heads + place] += static_cast<double>(x[i]) * b[i % d];
      }
      check(expected, 2e-5, [&](Threads threads) {
        std::vector<float> result(expected.size());
        head_logits(x.data(), a.data(), b.data(), n, d, heads, result.data(), result.data() + n * heads, threads);
        return result;
      });

      // The logits are linear in x, a and b: the gradient is exact without differences.
      const auto d_source = random_floats(n * heads, 4), d_target = random_floats(n * heads, 5);
      const auto start = random_floats(n * d, 6);
      std::vector<double> gradients(static_cast<size_t>(n * d + 2 * d));
      for (int64_t i = 0; i < n * d; ++i) {
        const int64_t place = i / d * heads + i % d / width, j = i % d;
        gradients[i] =
            start[i] + static_cast<double>(d_source[place]) * a[j] + static_cast<double>(d_target[place]) * b[j];
        gradients[n * d + j] += static_cast<double>(d_source[place]) * x[i];
        gradients[n * d + d + j] += static_cast<double>(d_target[place]) * x[i];
      }
      check(gradients, 2e-5, [&](Threads threads) {
        std::vector<float> result(gradients.size());
        std::copy(start.begin(), start.end(), result.begin());
        head_logits_backward(x.data(), a.data(), b.data(), d_source.data(), d_target.data(), n, d, heads, result.data(),
                             result.data() + n * d, result.data() + n * d + d, threads);
        return result;
      });
    }
  }
}

TEST(NarrowProduct, ProductAndGradients) {
  for_sizes([&](int64_t n, int64_t d) {
    for (const int64_t k : {1, 3, 8, 16}) {
      const auto x = random_floats(n * d, 1), v = random_floats(d * k, 2), d_y = random_floats(n * k, 3);
      std::vector<double> y(static_cast<size_t>(n * k)), gradients(static_cast<size_t>(n * d + d * k));
      for (int64_t i = 0; i < n; ++i) {
        for (int64_t j = 0; j < d; ++j) {
          for (int64_t c = 0; c < k; ++c) {
            y[i * k + c] += static_cast<double>(x[i * d + j]) * v[j * k + c];
            gradients[i * d + j] += static_cast<double>(d_y[i * k + c]) * v[j * k + c];
            gradients[n * d + j * k + c] += static_cast<double>(d_y[i * k + c]) * x[i * d + j];
          }
        }
      }
      check(y, 2e-5, [&](Threads threads) {
        std::vector<float> result(y.size());
        narrow_product(x.data(), v.data(), n, d, k, result.data(), threads);
        return result;
      });
      check(gradients, 2e-5, [&](Threads threads) {
        std::vector<float> result(gradients.size());
        narrow_product_backward(x.data(), v.data(), d_y.data(), n, d, k, result.data(), result.data() + n * d, threads);
        return result;
      });
    }
  });
}

}  // namespace
}  // namespace graphpae::kernels
