#include "graphpae/evaluate/block_choice.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "graphpae/core/rng.h"
#include "graphpae/evaluate/chosen_fit.h"
#include "graphpae/evaluate/kernel_ridge.h"
#include "graphpae/evaluate/kernel_rows.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

std::vector<int32_t> ids_between(int32_t first, int32_t last) {
  std::vector<int32_t> ids(static_cast<size_t>(last - first));
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

Features normal_rows(int64_t rows, int64_t columns, uint64_t seed) {
  Buffer<float> values(static_cast<size_t>(rows * columns));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(Rng(seed).normal(i));
  return Features::dense(rows, columns, std::move(values));
}

std::shared_ptr<const Features> shared_rows(Features rows) { return std::make_shared<const Features>(std::move(rows)); }

// Two classes; the first columns of `telling` say half of it each, `noise` says nothing.
struct Problem {
  static constexpr int32_t kRows = 400;
  Problem() {
    const Features a = normal_rows(kRows, 6, 1), b = normal_rows(kRows, 6, 2);
    std::vector<int32_t> labels;
    for (int64_t i = 0; i < kRows; ++i) labels.push_back(a.dense_row(i)[0] + b.dense_row(i)[0] > 0 ? 1 : 0);
    kernels = {std::make_shared<Kernel>("noise", KernelForm::linear, shared_rows(normal_rows(kRows, 6, 3))),
               std::make_shared<Kernel>("left", KernelForm::linear, shared_rows(a)),
               std::make_shared<Kernel>("right", KernelForm::linear, shared_rows(b))};
    task = class_task(labels, 2, TaskMetric::accuracy);
    split = {ids_between(0, 150), ids_between(150, 250), ids_between(250, kRows)};
  }
  KernelList kernels;
  LearningTask task;
  Split split;
};

TEST(Kernels, AreWhatTheirNamesSay) {
  const Features rows = normal_rows(50, 4, 5);
  const std::vector<int32_t> left = {3, 1}, right = {0, 3, 7};
  const Kernel linear("b", KernelForm::linear, shared_rows(rows));
  const Kernel gaussian("b", KernelForm::gaussian, shared_rows(rows));
  const Buffer<float> k = linear.between(left, right, {}), g = gaussian.between(left, right, {2});
  double scale = 0, width = 0, mean_distance = 0;
  const auto product = [&](int32_t i, int32_t j) {
    double sum = 0;
    for (int64_t c = 0; c < 4; ++c) sum += static_cast<double>(rows.dense_row(i)[c]) * rows.dense_row(j)[c];
    return sum;
  };
  const auto distance = [&](int32_t i, int32_t j) { return product(i, i) + product(j, j) - 2 * product(i, j); };
  for (int32_t i = 0; i < 50; ++i) {
    for (int32_t j = 0; j < 50; ++j) mean_distance += distance(i, j) / 2500;
  }
  scale = k[0] / product(3, 0);
  EXPECT_NEAR(scale, 2 / mean_distance, 1e-4);  // rows are 2 apart on average
  for (size_t i = 0; i < 2; ++i) {
    for (size_t j = 0; j < 3; ++j) EXPECT_NEAR(k[i * 3 + j], scale * product(left[i], right[j]), 1e-4);
  }
  width = g[0] / g[1];  // row 3 with row 0 and with itself
  EXPECT_NEAR(width, std::exp(-distance(3, 0) / mean_distance), 1e-4);
}

TEST(Kernels, MinMaxIsSharedCounts) {
  const Features counts = Features::sparse(3, 3, {0, 2, 4, 5}, {0, 1, 0, 2, 1}, {2, 1, 1, 3, 5});
  const Kernel kernel("morgan", KernelForm::minmax, shared_rows(counts));
  const std::vector<int32_t> all = {0, 1, 2};
  const Buffer<float> k = kernel.between(all, all, {});
  EXPECT_NEAR(k[1] / k[0], 1.0 / 6, 1e-6);  // min: 1, max: 2 + 1 + 3
  EXPECT_NEAR(k[2] / k[0], 1.0 / 7, 1e-6);
  EXPECT_NEAR(k[5], 0, 1e-6);
  const Features negative = Features::sparse(1, 1, {0, 1}, {0}, {-1});
  EXPECT_DATA_ERROR(Kernel("b", KernelForm::minmax, shared_rows(negative)), "negative");
}

TEST(Kernels, SparseAndDenseAgree) {
  Buffer<float> values(static_cast<size_t>(40 * 60));
  std::fill(values.begin(), values.end(), 0.0f);
  for (int64_t i = 0; i < 40; ++i)
    values[i * 60 + i % 7] = values[i * 60 + (3 * i) % 60] = 1.0f + static_cast<float>(i);
  const Features sparse = Features::compact(40, 60, values), dense = Features::dense(40, 60, values);
  ASSERT_TRUE(sparse.is_sparse());
  const std::vector<int32_t> some = {0, 5, 39};
  for (const KernelForm form : {KernelForm::linear, KernelForm::gaussian}) {
    const Buffer<float> a = Kernel("b", form, shared_rows(unit_rows(sparse))).between(some, some, {});
    const Buffer<float> b = Kernel("b", form, shared_rows(unit_rows(dense))).between(some, some, {});
    for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-5);
  }
}

TEST(KernelRidge, SolvesItsEquations) {
  const int64_t n = 90;
  const Kernel kernel("b", KernelForm::gaussian, shared_rows(normal_rows(n, 3, 9)));
  const std::vector<int32_t> all = ids_between(0, n);
  const KernelRidge ridge(kernel.between(all, all, {}), n, {});
  std::vector<double> y;
  for (int64_t i = 0; i < n; ++i) y.push_back(2 + Rng(4).normal(i));
  const std::vector<double> penalties = {0.01};
  const auto path = ridge.solve(y, 1, penalties);
  Buffer<float> k = kernel.between(all, all, {});
  ridge.centre(k, n);
  double trace = 0;
  for (int64_t i = 0; i < n; ++i) trace += k[i * n + i] / static_cast<double>(n);
  const std::vector<float> fitted = ridge.predict(k, n, path[0]);
  for (int64_t i = 0; i < n; ++i)
    EXPECT_NEAR(fitted[i] + 0.01 * trace * path[0].values[i], y[i], 2e-4);  // K a + penalty a = y
}

TEST(BlockChoice, FindsBlocksThatSayHalfEach) {
  const Problem problem;
  const BlockChoice choice = choose_blocks(problem.kernels, problem.task, problem.split, {});
  std::vector<bool> used(3, false);
  for (const KernelSum::Part& part : choice.sum.parts) used[part.kernel] = true;
  EXPECT_FALSE(used[0]);
  EXPECT_TRUE(used[1] && used[2]);
  EXPECT_GT(choice.score, std::max(choice.singles[1].score, choice.singles[2].score) + 0.1);
  const FittedChoice fit =
      fit_choice(choice.sum, choice.penalty, problem.kernels, problem.task, problem.split, problem.split.test, {});
  EXPECT_GT(*problem.task.score(problem.split.test, fit.asked), 0.9);
}

TEST(BlockChoice, DoesNotSeeTestLabels) {
  const Problem problem;
  LearningTask other = problem.task;
  for (const int32_t id : problem.split.test) {
    other.labels[id] = 1 - other.labels[id];
    std::swap(other.targets[id * 2], other.targets[id * 2 + 1]);
  }
  const BlockChoice a = choose_blocks(problem.kernels, problem.task, problem.split, {});
  const BlockChoice b = choose_blocks(problem.kernels, other, problem.split, {});
  EXPECT_EQ(a.sum, b.sum);
  EXPECT_EQ(a.penalty, b.penalty);
  EXPECT_EQ(a.score, b.score);
  const auto fit = [&](const LearningTask& task) {
    return fit_choice(a.sum, a.penalty, problem.kernels, task, problem.split, problem.split.test, {}).asked;
  };
  EXPECT_EQ(fit(problem.task), fit(other));
}

TEST(BlockChoice, SameBitsForAnyThreads) {
  const Problem problem;
  ChoiceOptions three;
  three.threads = {3};
  const BlockChoice a = choose_blocks(problem.kernels, problem.task, problem.split, {});
  const BlockChoice b = choose_blocks(problem.kernels, problem.task, problem.split, three);
  EXPECT_EQ(a.sum, b.sum);
  EXPECT_EQ(a.score, b.score);
}

TEST(BlockChoice, MissingTargetsAreLeftOut) {
  Problem problem;
  LearningTask numbers;
  numbers.metric = TaskMetric::rmse;
  numbers.outputs = 2;
  for (int64_t i = 0; i < Problem::kRows; ++i) {
    const double x = problem.kernels[1]->rows().dense_row(i)[1];
    numbers.targets.push_back(i % 3 == 0 ? std::nan("") : 2 * x);
    numbers.targets.push_back(i % 5 == 0 ? std::nan("") : 7 - x);
  }
  const BlockChoice choice = choose_blocks(problem.kernels, numbers, problem.split, {});
  EXPECT_EQ(choice.sum.parts.front().kernel, 1);
  const FittedChoice fit =
      fit_choice(choice.sum, choice.penalty, problem.kernels, numbers, problem.split, problem.split.test, {});
  EXPECT_GT(*numbers.score(problem.split.test, fit.asked), -0.3);
}

TEST(Calibration, MakesProbabilities) {
  const Problem problem;
  const KernelSum sum{{{1, 1.0}, {2, 1.0}}, false};
  FittedChoice fit = fit_choice(sum, 3, problem.kernels, problem.task, problem.split, problem.split.test, {});
  fit.calibration.apply(problem.task, fit.asked);
  double loss = 0;
  for (size_t i = 0; i < problem.split.test.size(); ++i) {
    EXPECT_NEAR(fit.asked[2 * i] + fit.asked[2 * i + 1], 1, 1e-5);
    loss -= std::log(fit.asked[2 * i + problem.task.labels[problem.split.test[i]]]);
  }
  EXPECT_LT(loss / static_cast<double>(problem.split.test.size()), 0.4);  // chance has 0.69
}

TEST(BlockChoice, NamesWhatIsMissing) {
  Problem problem;
  EXPECT_DATA_ERROR(choose_blocks({}, problem.task, problem.split, {}), "no blocks");
  problem.split.val.clear();
  EXPECT_DATA_ERROR(choose_blocks(problem.kernels, problem.task, problem.split, {}), "validation");
}

}  // namespace
}  // namespace graphpae
