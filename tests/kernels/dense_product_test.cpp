#include "graphpae/kernels/dense_product.h"

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

struct Shape {
  int64_t m, n, k;
};

std::vector<double> naive_product(const std::vector<float>& a, const std::vector<float>& b, Form form_a, Form form_b,
                                  const Shape& s) {
  std::vector<double> c(static_cast<size_t>(s.m * s.n));
  for (int64_t i = 0; i < s.m; ++i) {
    for (int64_t j = 0; j < s.n; ++j) {
      double sum = 0;
      for (int64_t l = 0; l < s.k; ++l) {
        sum += static_cast<double>(a[form_a == Form::kPlain ? i * s.k + l : l * s.m + i]) *
               b[form_b == Form::kPlain ? l * s.n + j : j * s.k + l];
      }
      c[i * s.n + j] = sum;
    }
  }
  return c;
}

TEST(DenseProduct, MatchesLoopsForAllFormsAndSizes) {
  const Shape shapes[] = {{0, 7, 7},     {7, 0, 7},    {7, 40, 0},      {1, 1, 1},      {1, 257, 7},    {257, 1, 40},
                          {7, 40, 257},  {40, 7, 257}, {257, 257, 1},   {257, 40, 257}, {600, 520, 40}, {1100, 7, 7},
                          {40, 40, 900}, {7, 2100, 7}, {300, 250, 400}, {17, 33, 9000}};
  for (const Shape& s : shapes) {
    const auto a = random_floats(s.m * s.k, 1), b = random_floats(s.k * s.n, 2), bias = random_floats(s.n, 3);
    const auto start = random_floats(s.m * s.n, 4);
    for (const Form form_a : {Form::kPlain, Form::kTransposed}) {
      for (const Form form_b : {Form::kPlain, Form::kTransposed}) {
        const auto product = naive_product(a, b, form_a, form_b, s);
        const MatrixView view_a{a.data(), form_a == Form::kPlain ? s.k : s.m, form_a};
        const MatrixView view_b{b.data(), form_b == Form::kPlain ? s.n : s.k, form_b};
        for (const bool accumulate : {false, true}) {
          for (const bool with_bias : {false, true}) {
            SCOPED_TRACE(testing::Message() << s.m << "x" << s.n << "x" << s.k << " forms " << int(form_a)
                                            << int(form_b) << " accumulate " << accumulate << " bias " << with_bias);
            auto expected = product;
            for (size_t i = 0; i < expected.size(); ++i) {
              if (accumulate) expected[i] += start[i];
              if (with_bias) expected[i] += bias[i % s.n];
            }
            const auto check = [&](bool tiles) {
              auto c = accumulate ? start : std::vector<float>(start.size(), NAN);
              const ProductOptions options{accumulate, with_bias ? bias.data() : nullptr, tiles};
              dense_product(view_a, view_b, s.m, s.n, s.k, c.data(), s.n, options, Threads{2});
              expect_close(c, expected, 1e-6 + 4e-6 * std::sqrt(s.k));
            };
            check(true);
            for_each_target([&] { check(false); });
          }
        }
      }
    }
  }
}

TEST(DenseProduct, LeavesTheGapBetweenRowsAlone) {
  for (const Shape& s : {Shape{40, 7, 33}, Shape{40, 30, 33}, Shape{40, 7, 8200}, Shape{40, 30, 8200}}) {
    for (const Form form : {Form::kPlain, Form::kTransposed}) {
      const int64_t rows = form == Form::kPlain ? s.m : s.k, a_stride = (form == Form::kPlain ? s.k : s.m) + 17;
      const int64_t b_stride = s.n + 13, c_stride = s.n + 4;
      const auto a = random_floats(rows * a_stride, 1), b = random_floats(s.k * b_stride, 2);
      std::vector<float> c(static_cast<size_t>(s.m * c_stride), 5);
      dense_product({a.data(), a_stride, form}, plain(b.data(), b_stride), s.m, s.n, s.k, c.data(), c_stride, {},
                    Threads{2});
      for (int64_t i = 0; i < s.m; ++i) {
        for (int64_t j = 0; j < c_stride; ++j) {
          double expected = 0;
          for (int64_t l = 0; l < s.k; ++l) {
            expected += static_cast<double>(a[form == Form::kPlain ? i * a_stride + l : l * a_stride + i]) *
                        b[l * b_stride + j];
          }
          EXPECT_NEAR(c[i * c_stride + j], j < s.n ? expected : 5, 1e-4 * std::sqrt(s.k));
        }
      }
    }
  }
}

TEST(DenseProduct, ThreadsDoNotChangeBits) {
  for (const Shape& s : {Shape{1300, 700, 257}, Shape{100, 90, 20000}, Shape{1024, 1024, 500}}) {
    const auto a = random_floats(s.m * s.k, 1), b = random_floats(s.k * s.n, 2);
    for (const bool transpose : {false, true}) {
      for (const bool tiles : {false, true}) {
        std::vector<float> first;
        for (const int threads : {1, 2, 3, 8}) {
          std::vector<float> c(static_cast<size_t>(s.m * s.n));
          const MatrixView view = transpose ? transposed(a.data(), s.m) : plain(a.data(), s.k);
          dense_product(view, plain(b.data(), s.n), s.m, s.n, s.k, c.data(), s.n, {.tiles = tiles}, Threads{threads});
          if (first.empty()) first = c;
          EXPECT_TRUE(same_bits(first, c)) << threads << " threads, " << s.m << "x" << s.n << "x" << s.k;
        }
      }
    }
  }
}

TEST(SymmetricProduct, MatchesLoopsAndIsSymmetric) {
  for (const int64_t n : {0, 1, 7, 40, 257, 600}) {
    for (const int64_t k : {0, 1, 40, 400}) {
      const auto a = random_floats(n * k, 1);
      for (const bool inner : {false, true}) {  // A^T A or A A^T
        std::vector<float> first;
        for (const int threads : {1, 2, 8}) {
          std::vector<float> c(static_cast<size_t>(n * n), NAN);
          if (inner) {
            symmetric_product(transposed(a.data(), n), plain(a.data(), n), n, k, c.data(), n, Threads{threads});
          } else {
            symmetric_product(plain(a.data(), k), transposed(a.data(), k), n, k, c.data(), n, Threads{threads});
          }
          if (first.empty()) {
            first = c;
            const Form form = inner ? Form::kTransposed : Form::kPlain;
            const Form other = inner ? Form::kPlain : Form::kTransposed;
            expect_close(c, naive_product(a, a, form, other, {n, n, k}), 1e-6 + 4e-6 * std::sqrt(k));
          }
          EXPECT_TRUE(same_bits(first, c));
        }
        for (int64_t i = 0; i < n; ++i) {
          for (int64_t j = 0; j < i; ++j) ASSERT_EQ(first[i * n + j], first[j * n + i]);
        }
      }
    }
  }
}

}  // namespace
}  // namespace graphpae::kernels
