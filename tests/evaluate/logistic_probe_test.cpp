#include "graphpae/evaluate/logistic_probe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "graphpae/core/rng.h"
#include "graphpae/evaluate/logistic_path.h"
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

std::vector<uint8_t> random_labels(int64_t rows, double share) {
  std::vector<uint8_t> labels;
  for (int64_t i = 0; i < rows; ++i) labels.push_back(Rng(21).uniform(i) < share ? 1 : 0);
  return labels;
}

// Columns of very different places and sizes, correlated with each other, the first two a little with the labels;
// column 2 is the same in all rows below `constant_until`.
Features random_rows(int64_t rows, int64_t columns, const std::vector<uint8_t>& labels, int64_t constant_until = 0) {
  const Rng rng(22);
  Buffer<float> values(static_cast<size_t>(rows * columns));
  for (int64_t i = 0; i < rows; ++i) {
    const double shared = rng.stream(1).normal(i);
    for (int64_t d = 0; d < columns; ++d) {
      double value = rng.normal(i * columns + d) + 2 * shared;
      if (d < 2 && i < static_cast<int64_t>(labels.size())) value += labels[i];
      if (d == 2 && i < constant_until) value = 0.3;
      values[i * columns + d] = static_cast<float>((value + static_cast<double>(d)) * std::pow(4.0, d % 5));
    }
  }
  return Features::dense(rows, columns, std::move(values));
}

RowsView view(const Features& rows) { return {rows.dense_values().data(), rows.columns()}; }

// The columns of `ids` standardised with the statistics of `fitted`, a one appended.
Matrix standardised(const Features& rows, const std::vector<int32_t>& fitted, const std::vector<int32_t>& ids) {
  const int64_t columns = rows.columns();
  Matrix result(ids.size(), std::vector<double>(static_cast<size_t>(columns) + 1, 1));
  for (int64_t d = 0; d < columns; ++d) {
    double mean = 0, square = 0;
    bool varies = false;
    for (const int32_t id : fitted) {
      mean += rows.dense_row(id)[d] / static_cast<double>(fitted.size());
      varies = varies || rows.dense_row(id)[d] != rows.dense_row(fitted[0])[d];
    }
    for (const int32_t id : fitted) square += std::pow(rows.dense_row(id)[d] - mean, 2);
    const double scale = varies ? std::sqrt(square / static_cast<double>(fitted.size())) : 1;
    for (size_t i = 0; i < ids.size(); ++i) result[i][d] = (rows.dense_row(ids[i])[d] - mean) / scale;
  }
  return result;
}

double dot(const std::vector<double>& a, const std::vector<double>& b) {
  return std::inner_product(a.begin(), a.end(), b.begin(), 0.0);
}

std::vector<double> gradient_at(const Matrix& x, const std::vector<uint8_t>& labels, double c,
                                const std::vector<double>& w) {
  std::vector<double> gradient = w;
  gradient.back() = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const double g = c * (1 / (1 + std::exp(-dot(x[i], w))) - labels[i]);
    for (size_t d = 0; d < w.size(); ++d) gradient[d] += g * x[i][d];
  }
  return gradient;
}

// Newton's method with a fixed, cautious step at first: slow and hard to get wrong.
std::vector<double> newton(const Matrix& x, const std::vector<uint8_t>& labels, double c) {
  const size_t n = x[0].size();
  std::vector<double> w(n, 0);
  for (int step = 0; step < 60; ++step) {
    Matrix h(n, std::vector<double>(n, 0));
    for (size_t d = 0; d + 1 < n; ++d) h[d][d] = 1;
    for (const auto& row : x) {
      const double p = 1 / (1 + std::exp(-dot(row, w)));
      for (size_t d = 0; d < n; ++d) {
        for (size_t e = 0; e < n; ++e) h[d][e] += c * p * (1 - p) * row[d] * row[e];
      }
    }
    const std::vector<double> move = solve_plainly(h, gradient_at(x, labels, c, w));
    for (size_t d = 0; d < n; ++d) w[d] -= (step < 30 ? 0.5 : 1) * move[d];
  }
  return w;
}

double auc_by_pairs(const std::vector<double>& scores, const std::vector<uint8_t>& labels) {
  double won = 0, pairs = 0;
  for (size_t i = 0; i < scores.size(); ++i) {
    for (size_t j = 0; j < scores.size(); ++j) {
      if (labels[i] != 1 || labels[j] != 0) continue;
      ++pairs;
      won += scores[i] > scores[j] ? 1 : scores[i] == scores[j] ? 0.5 : 0;
    }
  }
  return won / pairs;
}

// One column of -1 and 1 that is the label: w = C N / (1 + e^w), the bias zero.
TEST(LogisticPath, ExactlySolvable) {
  const int64_t rows = 12;
  Buffer<float> values;
  std::vector<uint8_t> labels;
  for (int64_t i = 0; i < rows; ++i) {
    labels.push_back(i % 2);
    values.push_back(i % 2 == 0 ? 10.0f : 16.0f);  // mean 13, deviation 3
  }
  const Features features = Features::dense(rows, 1, values);
  LogisticPath path(view(features), range(0, 12), labels);
  for (const double c : kPenaltyGrid) {
    EXPECT_TRUE(path.fit(c));
    double w = 0;
    for (double low = 0, high = 100; high - low > 1e-13;) {
      w = (low + high) / 2;
      (w < c * 12 / (1 + std::exp(w)) ? low : high) = w;
    }
    EXPECT_NEAR(path.parameters()[0], w, 2e-6 * w) << c;
    EXPECT_NEAR(path.parameters()[1], 0, 1e-6) << c;
    const LinearClassifier classifier = path.classifier();
    EXPECT_NEAR(classifier.weights[0], w / 3, 1e-6 * w);
    EXPECT_NEAR(classifier.score(features.dense_row(1).data()), w, 3e-6 * w);
  }
}

TEST(LogisticPath, GradientVanishes) {
  const std::vector<uint8_t> labels = random_labels(70, 0.3);
  for (const int64_t columns : {1, 9, 120}) {  // the last: more columns than rows, separable
    const Features rows = random_rows(70, columns, labels, 70);
    const Matrix x = standardised(rows, range(0, 70), range(0, 70));
    LogisticPath path(view(rows), range(0, 70), labels);
    for (const double c : kPenaltyGrid) {
      ASSERT_TRUE(path.fit(c)) << columns << " columns, C " << c;
      const std::vector<double> zero(x[0].size(), 0);
      double size = 0;
      for (const double g : gradient_at(x, labels, c, zero)) size = std::max(size, std::abs(g));
      for (const double g : gradient_at(x, labels, c, path.parameters()))
        ASSERT_NEAR(g, 0, 1e-5 * size) << columns << " columns, C " << c;
      if (columns > 2) {
        EXPECT_EQ(path.parameters()[2], 0);  // says nothing
      }
    }
  }
}

TEST(LogisticPath, StartsWhereItIsTold) {
  const std::vector<uint8_t> labels = random_labels(60, 0.5);
  const Features rows = random_rows(60, 7, labels);
  LogisticPath first(view(rows), range(0, 60), labels), second(view(rows), range(0, 60), labels);
  ASSERT_TRUE(first.fit(10));
  second.start_at(first.classifier());
  ASSERT_TRUE(second.fit(10));
  EXPECT_EQ(second.evaluations(), 1);  // it was the optimum
  for (size_t d = 0; d < 8; ++d) EXPECT_NEAR(second.parameters()[d], first.parameters()[d], 1e-9);
}

// Every fold and every C by plain Newton steps, every ROC-AUC by counting pairs.
TEST(LogisticProbe, AgreesWithBruteForce) {
  const int32_t trained = 63;
  const std::vector<uint8_t> labels = random_labels(trained, 0.4);
  const Features rows = random_rows(90, 5, labels, 40);
  std::vector<int32_t> ids = range(0, trained);
  std::swap(ids[1], ids[40]);
  const std::vector<int32_t> asked = range(trained, 90);
  BinaryTask task{ids, {}};
  for (const int32_t id : ids) task.labels.push_back(labels[id]);
  const FittedProbe probe = logistic_probes(rows, std::vector{task}, asked, Threads{}).front();
  EXPECT_EQ(probe.unconverged, 0);
  EXPECT_EQ(probe.folds_used, kFolds);
  const std::vector<int32_t> fold_of = stratified_folds(task.labels);
  size_t best = 0;
  std::vector<double> means;
  for (const double c : kPenaltyGrid) {
    double mean = 0;
    for (int32_t fold = 0; fold < kFolds; ++fold) {
      std::vector<int32_t> fitted, held;
      std::vector<uint8_t> fitted_labels, held_labels;
      for (size_t i = 0; i < ids.size(); ++i) {
        (fold_of[i] == fold ? held : fitted).push_back(ids[i]);
        (fold_of[i] == fold ? held_labels : fitted_labels).push_back(task.labels[i]);
      }
      const std::vector<double> w = newton(standardised(rows, fitted, fitted), fitted_labels, c);
      std::vector<double> scores;
      for (const auto& row : standardised(rows, fitted, held)) scores.push_back(dot(row, w));
      mean += auc_by_pairs(scores, held_labels) / kFolds;
    }
    means.push_back(mean);
    if (mean > means[best]) best = means.size() - 1;
  }
  for (size_t k = 0; k < means.size(); ++k) EXPECT_NEAR(probe.scores[k], means[k], 1e-12) << k;
  EXPECT_GT(probe.scores[best], probe.scores.front());  // there is something to choose
  EXPECT_EQ(probe.penalty, kPenaltyGrid[best]);
  const std::vector<double> w = newton(standardised(rows, ids, ids), task.labels, probe.penalty);
  const Matrix x = standardised(rows, ids, asked);
  for (size_t i = 0; i < asked.size(); ++i) EXPECT_NEAR(probe.predictions[i], dot(x[i], w), 1e-5) << i;
}

TEST(LogisticProbe, FoldsWithoutAClassHaveNoSay) {
  std::vector<uint8_t> labels(30, 0);
  for (const int i : {4, 17, 22}) labels[i] = 1;
  EXPECT_EQ(usable_folds(labels), 3);
  const Features rows = random_rows(30, 4, labels);
  const FittedProbe probe =
      logistic_probes(rows, std::vector{BinaryTask{range(0, 30), labels}}, range(0, 5), Threads{}).front();
  EXPECT_EQ(probe.folds_used, 3);
  Buffer<float> telling(labels.begin(), labels.end());  // nothing but the labels: every ROC-AUC is 1, and so their mean
  const FittedProbe perfect = logistic_probes(Features::dense(30, 1, std::move(telling)),
                                              std::vector{BinaryTask{range(0, 30), labels}}, range(0, 5), Threads{})
                                  .front();
  for (const double score : perfect.scores) EXPECT_DOUBLE_EQ(score, 1);
  labels[4] = labels[17] = 0;
  EXPECT_EQ(usable_folds(labels), 0);  // the only member is either held out or learned from
  EXPECT_DATA_ERROR(logistic_probes(rows, std::vector{BinaryTask{range(0, 30), labels}}, range(0, 5), Threads{}),
                    "too few of one class");
  EXPECT_EQ(usable_folds(std::vector<uint8_t>(30, 1)), 0);
}

TEST(LogisticProbe, SameBitsForAnyNumberOfThreadsAndAnyCompany) {
  std::vector<BinaryTask> tasks;
  for (int32_t t = 0; t < 3; ++t) {
    tasks.push_back({range(t, 50 + 5 * t), {}});
    for (const int32_t id : tasks.back().rows) tasks.back().labels.push_back((id * (t + 3)) % 7 < 3 ? 1 : 0);
  }
  const Features rows = random_rows(80, 33, tasks[0].labels);
  int steps = 0;
  const auto run = [&](std::span<const BinaryTask> some, int threads) {
    return logistic_probes(rows, some, range(60, 80), Threads{threads}, [&] { ++steps; });
  };
  const std::vector<FittedProbe> one = run(tasks, 1);
  EXPECT_EQ(steps, 3 * (kFolds + 1));
  for (const int threads : {2, 5}) {
    const std::vector<FittedProbe> other = run(tasks, threads);
    for (size_t t = 0; t < 3; ++t) {
      EXPECT_EQ(other[t].predictions, one[t].predictions);
      EXPECT_EQ(other[t].scores, one[t].scores);
    }
  }
  EXPECT_EQ(run(std::span(tasks).subspan(2), 2).front().predictions, one[2].predictions);
}

TEST(LogisticProbe, SparseRows) {
  const int64_t rows = 40, columns = 6;
  const std::vector<uint8_t> labels = random_labels(rows, 0.5);
  Buffer<float> values(static_cast<size_t>(rows * columns), 0.0f);
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> places;
  std::vector<float> kept;
  for (int64_t i = 0; i < rows; ++i) {
    for (int32_t d = 0; d < columns; ++d) {
      if ((i * 7 + d * 3) % 4 != 0) continue;
      values[i * columns + d] = static_cast<float>(1 + Rng(5).uniform(i * columns + d));
      places.push_back(d);
      kept.push_back(values[i * columns + d]);
    }
    offsets.push_back(static_cast<int64_t>(places.size()));
  }
  const std::vector<BinaryTask> tasks = {{range(0, 30), {labels.begin(), labels.begin() + 30}}};
  const auto run = [&](const Features& features) {
    return logistic_probes(features, tasks, range(30, 40), Threads{}).front().predictions;
  };
  EXPECT_EQ(run(Features::sparse(rows, columns, offsets, places, kept)), run(Features::dense(rows, columns, values)));
}

}  // namespace
}  // namespace graphpae
