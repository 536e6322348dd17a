#include "graphpae/evaluate/ridge_probe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "graphpae/core/rng.h"
#include "graphpae/evaluate/gram.h"
#include "tests/support/expect_error.h"
#include "tests/support/linear_system.h"

namespace graphpae {
namespace {

using test::Matrix;
using test::solve_plainly;

std::vector<int32_t> range(int32_t first, int32_t last) {
  std::vector<int32_t> ids(last - first);
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

// Random rows that are far from centred and far from length one, the last one zero.
Features random_rows(int64_t rows, int64_t columns) {
  const Rng rng(11);
  Buffer<float> values(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i) {
    const double size = i + 1 == rows ? 0 : 0.1 + 5 * rng.stream(1).uniform(i);
    for (int64_t d = 0; d < columns; ++d)
      values[i * columns + d] = static_cast<float>(size * (0.7 + rng.normal(i * columns + d)));
  }
  return Features::dense(rows, columns, std::move(values));
}

std::vector<double> random_targets(int64_t rows, int64_t tasks) {
  std::vector<double> y(static_cast<size_t>(rows * tasks));
  for (size_t i = 0; i < y.size(); ++i) y[i] = 3 + Rng(12).normal(i);
  return y;
}

// Ridge by the normal equations of all unknowns at once, the intercept a column of ones without a penalty.
struct DirectRidge {
  std::vector<double> w;  // the intercept last

  static std::vector<double> row_of(const Features& rows, int64_t id) {
    std::vector<double> row(rows.dense_row(id).begin(), rows.dense_row(id).end());
    double square = 0;
    for (const double value : row) square += value * value;
    if (square > 0) {
      for (double& value : row) value /= std::sqrt(square);
    }
    row.push_back(1);
    return row;
  }
  DirectRidge(const Features& rows, const std::vector<int32_t>& ids, const std::vector<double>& y, double penalty) {
    const size_t n = static_cast<size_t>(rows.columns()) + 1;
    Matrix a(n, std::vector<double>(n, 0));
    std::vector<double> b(n, 0);
    for (size_t i = 0; i < ids.size(); ++i) {
      const std::vector<double> row = row_of(rows, ids[i]);
      for (size_t d = 0; d < n; ++d) {
        for (size_t e = 0; e < n; ++e) a[d][e] += row[d] * row[e];
        b[d] += row[d] * y[i];
      }
    }
    for (size_t d = 0; d + 1 < n; ++d) a[d][d] += penalty;
    w = solve_plainly(a, b);
  }
  double predict(const Features& rows, int64_t id) const {
    const std::vector<double> row = row_of(rows, id);
    return std::inner_product(row.begin(), row.end(), w.begin(), 0.0);
  }
};

// Two unit vectors in turn with labels 1 and 3. In each fold of n rows the only eigenvalue is n/2 and predictions miss
// the labels by penalty / (n/2 + penalty).
TEST(RidgeProbe, ExactlySolvable) {
  const int64_t rows = 10;
  Buffer<float> values;
  std::vector<double> y;
  for (int64_t i = 0; i < rows; ++i) {
    values.push_back(i % 2 == 0 ? 7.0f : 0.0f);  // the length does not count
    values.push_back(i % 2 == 0 ? 0.0f : 0.5f);
    y.push_back(i % 2 == 0 ? 1 : 3);
  }
  const Features features = Features::dense(rows, 2, values);
  const FittedProbe probe = ridge_probe(features, range(0, 10), y, 1, range(0, 2), Threads{}).front();
  for (size_t k = 0; k < kPenaltyGrid.size(); ++k)
    EXPECT_NEAR(probe.scores[k], -kPenaltyGrid[k] / (4 + kPenaltyGrid[k]), 1e-14);
  EXPECT_EQ(probe.penalty, 1e-3);
  EXPECT_NEAR(probe.predictions[0], 1 + 1e-3 / 5.001, 1e-14);
  EXPECT_NEAR(probe.predictions[1], 3 - 1e-3 / 5.001, 1e-14);
  EXPECT_EQ(probe.folds_used, kFolds);
}

// Tall rows go through X^T X, wide ones through X X^T.
class RidgeShapes : public testing::TestWithParam<int64_t> {};

TEST_P(RidgeShapes, AgreesWithNormalEquations) {
  const int64_t columns = GetParam(), tasks = 2;
  const Features rows = random_rows(40, columns);
  std::vector<int32_t> train = range(0, 27);
  std::swap(train[3], train[20]);  // folds follow this order, not the ids
  train.push_back(39);             // the row of zeros
  const std::vector<int32_t> asked = range(27, 40);
  const std::vector<double> y = random_targets(28, tasks);
  const std::vector<int32_t> fold_of = contiguous_folds(28);
  const std::vector<FittedProbe> probes = ridge_probe(rows, train, y, tasks, asked, Threads{});
  ASSERT_EQ(probes.size(), 2u);
  for (int64_t t = 0; t < tasks; ++t) {
    std::vector<double> own;
    for (int64_t i = 0; i < 28; ++i) own.push_back(y[i * tasks + t]);
    size_t best = 0;
    std::vector<double> scores;
    for (const double penalty : kPenaltyGrid) {
      double sum = 0;
      for (int32_t fold = 0; fold < kFolds; ++fold) {
        std::vector<int32_t> kept;
        std::vector<double> labels;
        for (size_t i = 0; i < train.size(); ++i) {
          if (fold_of[i] == fold) continue;
          kept.push_back(train[i]);
          labels.push_back(own[i]);
        }
        const DirectRidge direct(rows, kept, labels, penalty);
        double square = 0, count = 0;
        for (size_t i = 0; i < train.size(); ++i) {
          if (fold_of[i] != fold) continue;
          square += std::pow(direct.predict(rows, train[i]) - own[i], 2);
          ++count;
        }
        sum -= std::sqrt(square / count) / kFolds;
      }
      scores.push_back(sum);
      if (sum > scores[best]) best = scores.size() - 1;
    }
    for (size_t k = 0; k < scores.size(); ++k) EXPECT_NEAR(probes[t].scores[k], scores[k], 1e-9) << k;
    EXPECT_EQ(probes[t].penalty, kPenaltyGrid[best]);
    const DirectRidge direct(rows, train, own, kPenaltyGrid[best]);
    for (size_t i = 0; i < asked.size(); ++i)
      EXPECT_NEAR(probes[t].predictions[i], direct.predict(rows, asked[i]), 1e-9) << i;
  }
}

INSTANTIATE_TEST_SUITE_P(Columns, RidgeShapes, testing::Values(1, 6, 20, 28, 29, 75));

TEST(RidgeProbe, SameBitsForAnyNumberOfThreadsAndForSparseRows) {
  const Features rows = random_rows(60, 37);
  Buffer<float> values(rows.dense_values().begin(), rows.dense_values().end());
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> columns;
  std::vector<float> kept;
  for (int64_t i = 0; i < 60; ++i) {
    for (int32_t d = 0; d < 37; ++d) {
      float& value = values[i * 37 + d];
      if ((i + d) % 5 != 0) value = 0;
      if (value == 0) continue;
      columns.push_back(d);
      kept.push_back(value);
    }
    offsets.push_back(static_cast<int64_t>(columns.size()));
  }
  const Features dense = Features::dense(60, 37, values), sparse = Features::sparse(60, 37, offsets, columns, kept);
  const std::vector<double> y = random_targets(50, 1);
  const auto run = [&](const Features& features, int threads) {
    return ridge_probe(features, range(0, 50), y, 1, range(50, 60), Threads{threads}).front();
  };
  const FittedProbe one = run(dense, 1);
  for (const int threads : {2, 3, 8}) {
    EXPECT_EQ(run(dense, threads).predictions, one.predictions);
    EXPECT_EQ(run(dense, threads).scores, one.scores);
  }
  EXPECT_EQ(run(sparse, 2).predictions, one.predictions);
}

TEST(RidgeProbe, NeedsAsManyRowsAsFolds) {
  const Features rows = random_rows(6, 2);
  EXPECT_DATA_ERROR(ridge_probe(rows, range(0, 4), random_targets(4, 1), 1, range(4, 6), Threads{}), "4 rows for 5");
}

TEST(GramMatrix, RangesOfRows) {
  const int64_t rows = 9, columns = 35;
  const auto entry = [](int64_t i, int64_t j) { return Rng(3).normal(static_cast<uint64_t>(i * 1000 + j)); };
  const GramMatrix matrix(rows, columns, entry);
  const std::vector<double> gram = matrix.of_rows(2, 7, Threads{2});
  for (int64_t a = 0; a < columns; ++a) {
    for (int64_t b = 0; b < columns; ++b) {
      double sum = 0;
      for (int64_t i = 2; i < 7; ++i) sum += entry(i, a) * entry(i, b);
      ASSERT_NEAR(gram[a * columns + b], sum, 1e-13);
      ASSERT_EQ(gram[a * columns + b], gram[b * columns + a]);
    }
  }
}

}  // namespace
}  // namespace graphpae
