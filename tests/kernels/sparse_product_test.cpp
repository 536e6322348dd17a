#include "graphpae/kernels/sparse_product.h"

#include <gtest/gtest.h>
#include <hwy/targets.h>

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
using test::factor;
using test::for_each_target;
using test::random_floats;
using test::random_sparse;
using test::same_bits;

const Dropout kNone{};
const Dropout kSome{.probability = 0.4f, .key = 77};

std::vector<int32_t> some_map(int64_t n) {
  std::vector<int32_t> map;
  for (int64_t i = 0; i < n; ++i) map.push_back(i % 5 == 2 ? -1 : static_cast<int32_t>((i * 7 + 3) % n));
  return map;
}

std::vector<float> corrupted(const std::vector<float>& values, int64_t f, const std::vector<int32_t>& map,
                             const Dropout& dropout) {
  std::vector<float> x(map.size() * static_cast<size_t>(f));
  for (int64_t i = 0; i < static_cast<int64_t>(map.size()); ++i) {
    for (int64_t j = 0; j < f && map[i] >= 0; ++j) {
      x[i * f + j] = values[map[i] * f + j] * static_cast<float>(factor(dropout, i, j));
    }
  }
  return x;
}

TEST(SparseProduct, RowsColumnsAndProducts) {
  CorruptedRows x;  // reused: sizes go up and down
  for (const int64_t n : {0, 1, 7, 600, 40}) {
    for (const int64_t f : {0, 1, 40, 257, 7}) {
      const Features features = random_sparse(n, f, 0.2, 3);
      const auto map = some_map(n);
      for (const Dropout& dropout : {kNone, kSome}) {
        SCOPED_TRACE(testing::Message() << n << " x " << f << " dropout " << dropout.probability);
        const auto dense = corrupted(dense_copy(features), f, map, dropout);
        for (const int threads : {1, 2, 8}) {
          build_corrupted_rows(features, map, dropout, x, Threads{threads});
          std::vector<float> by_row(dense.size()), by_column(dense.size());
          ASSERT_EQ(x.rows, n);
          ASSERT_EQ(x.columns, f);
          for (int64_t i = 0; i < n; ++i) {
            for (int64_t e = x.offsets[i]; e < x.offsets[i + 1]; ++e) {
              if (e > x.offsets[i]) {
                ASSERT_LT(x.indices[e - 1], x.indices[e]);
              }
              by_row[i * f + x.indices[e]] = x.values[e];
            }
          }
          for (int64_t j = 0; j < f; ++j) {
            for (int64_t e = x.column_offsets[j]; e < x.column_offsets[j + 1]; ++e) {
              if (e > x.column_offsets[j]) {
                ASSERT_LT(x.column_rows[e - 1], x.column_rows[e]);
              }
              by_column[x.column_rows[e] * f + j] = x.column_values[e];
            }
          }
          EXPECT_EQ(by_row, dense);
          EXPECT_EQ(by_column, dense);
        }
        for (const int64_t d : {7, 257}) {
          const auto w = random_floats(f * d, 4), d_y = random_floats(n * d, 5);
          const auto left = random_floats(f, 7), right = random_floats(d, 8);
          std::vector<double> y(static_cast<size_t>(n * d)), d_w(static_cast<size_t>(f * d)), ranked;
          for (int64_t i = 0; i < n; ++i) {
            for (int64_t j = 0; j < f; ++j) {
              if (dense[i * f + j] == 0) continue;
              for (int64_t c = 0; c < d; ++c) {
                y[i * d + c] += static_cast<double>(dense[i * f + j]) * w[j * d + c];
                d_w[j * d + c] += static_cast<double>(dense[i * f + j]) * d_y[i * d + c];
              }
            }
          }
          for (int64_t i = 0; i < f * d; ++i)
            ranked.push_back(d_w[i] + static_cast<double>(left[i / d]) * right[i % d]);
          for_each_target([&](const std::vector<int>& counts) {
            std::vector<float> first_y, first_w;
            for (const int threads : counts) {
              std::vector<float> result(y.size(), NAN), gradient(d_w.size(), NAN), outer(d_w.size(), NAN);
              csr_product(x, w.data(), d, result.data(), Threads{threads});
              csc_product(x, d_y.data(), d, gradient.data(), Threads{threads});
              csc_product(x, d_y.data(), d, outer.data(), Threads{threads}, {left.data(), right.data()});
              if (threads == 1) {
                expect_close(result, y, 1e-5);
                expect_close(gradient, d_w, 1e-5);
                expect_close(outer, ranked, 1e-5);
                first_y = result;
                first_w = gradient;
              }
              EXPECT_TRUE(same_bits(first_y, result));
              EXPECT_TRUE(same_bits(first_w, gradient));
            }
          });
        }
      }
    }
  }
}

TEST(SparseProduct, DenseFeatures) {
  for (const int64_t f : {1, 7, 40, 257}) {
    const int64_t n = 60;
    const auto values = random_floats(n * f, 1);
    const Features features = Features::dense(n, f, Buffer<float>(values.begin(), values.end()));
    const auto map = some_map(n);
    for (const Dropout& dropout : {kNone, kSome}) {
      for_each_target([&](const std::vector<int>&) {
        std::vector<float> out(values.size(), NAN);
        build_corrupted_dense(features, map, dropout, out.data(), Threads{2});
        EXPECT_EQ(out, corrupted(values, f, map, dropout));
      });
    }
  }
}

}  // namespace
}  // namespace graphpae::kernels
