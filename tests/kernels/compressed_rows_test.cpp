#include "graphpae/kernels/compressed_rows.h"

#include <gtest/gtest.h>

#include "tests/support/kernel_checks.h"

namespace graphpae::kernels {
namespace {

using test::check;
using test::for_sizes;
using test::random_floats;

// [rows,k] with a third of the elements; a whole row is zero.
std::vector<float> sparse_floats(int64_t rows, int64_t k) {
  std::vector<float> x = random_floats(rows * k, 1);
  for (size_t i = 0; i < x.size(); ++i) {
    if (i % 3 != 0 || i / static_cast<size_t>(k) == 2) x[i] = 0;
  }
  return x;
}

TEST(CompressedRows, ProductSkipsZerosOnly) {
  for_sizes([](int64_t rows, int64_t d) {
    for (const int64_t k : {1, 13, 60}) {
      const std::vector<float> x = sparse_floats(rows, k);
      const std::vector<float> w = random_floats(k * d, 2), bias = random_floats(d, 3);
      for (const bool with_bias : {false, true}) {
        std::vector<double> expected;
        for (int64_t r = 0; r < rows; ++r) {
          for (int64_t j = 0; j < d; ++j) {
            double sum = with_bias ? bias[j] : 0;
            for (int64_t c = 0; c < k; ++c) sum += double{x[r * k + c]} * w[c * d + j];
            expected.push_back(sum);
          }
        }
        check(expected, 1e-5, [&](Threads threads) {
          std::vector<float> out(static_cast<size_t>(rows * d));
          compressed_product(compress_rows(x.data(), rows, k, threads), w.data(), d, with_bias ? bias.data() : nullptr,
                             out.data(), threads);
          return out;
        });
      }
    }
  });
}

// Gradients of the columns from `skipped` on of a weight that is wider.
TEST(CompressedRows, GradientsOfAProduct) {
  constexpr int64_t skipped = 3;
  for_sizes([](int64_t rows, int64_t d) {
    for (const int64_t k : {1, 13, 60}) {
      const std::vector<float> x = sparse_floats(rows, k), y = random_floats(rows * d, 2),
                               w = random_floats(k * (d + skipped), 3);
      std::vector<double> d_w(static_cast<size_t>(k * (d + skipped)), 7), d_x;
      for (int64_t c = 0; c < k; ++c) {
        for (int64_t j = 0; j < d; ++j) {
          double sum = 0;
          for (int64_t r = 0; r < rows; ++r) sum += double{x[r * k + c]} * y[r * d + j];
          d_w[c * (d + skipped) + skipped + j] = sum;
        }
      }
      for (int64_t r = 0; r < rows; ++r) {
        for (int64_t c = 0; c < k; ++c) {
          double sum = 0;
          for (int64_t j = 0; j < d; ++j) sum += double{y[r * d + j]} * w[c * (d + skipped) + skipped + j];
          d_x.push_back(x[r * k + c] == 0 ? 0 : sum);
        }
      }
      check(d_w, 1e-5, [&](Threads threads) {
        std::vector<float> out(d_w.size(), 7);
        compressed_transposed_product(compress_rows(x.data(), rows, k, threads), y.data(), d, out.data() + skipped,
                                      d + skipped, threads);
        return out;
      });
      check(d_x, 1e-5, [&](Threads threads) {
        std::vector<float> out(d_x.size(), 7);
        sampled_product(compress_rows(x.data(), rows, k, threads), y.data(), w.data() + skipped, d + skipped, d,
                        out.data(), threads);
        return out;
      });
    }
  });
}

TEST(CompressedRows, RowsWithoutZerosFit) {
  const std::vector<float> x = random_floats(4 * 7, 5);
  const CompressedRows a = compress_rows(x.data(), 4, 7, {2});
  for (int64_t r = 0; r < 4; ++r) {
    EXPECT_EQ(a.lengths[r], 7);
    for (int64_t j = 0; j < 7; ++j) {
      EXPECT_EQ(a.values[r * a.stride + j], x[r * 7 + j]);
      EXPECT_EQ(a.column_of[r * a.stride + j], j);
    }
    EXPECT_EQ(a.values[r * a.stride + 7], 0);
  }
}

}  // namespace
}  // namespace graphpae::kernels
