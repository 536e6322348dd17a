#include "graphpae/evaluate/probe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "graphpae/core/error.h"
#include "graphpae/core/rng.h"
#include "graphpae/evaluate/softmax_loss.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

constexpr int64_t kRows = 60, kColumns = 11, kClasses = 3;

std::vector<int32_t> range(int32_t first, int32_t last) {
  std::vector<int32_t> result(static_cast<size_t>(last - first));
  std::iota(result.begin(), result.end(), first);
  return result;
}

int32_t class_of(int64_t row) { return static_cast<int32_t>(row % kClasses); }

// Rows whose class shows in one column beside noise; `density` of the values are not zero.
Buffer<float> noisy_values(double noise, double density) {
  const Rng rng(5);
  Buffer<float> values(static_cast<size_t>(kRows * kColumns));
  for (int64_t i = 0; i < kRows * kColumns; ++i)
    values[i] = rng.uniform(static_cast<uint64_t>(2 * i)) < density
                    ? static_cast<float>(noise * rng.normal(static_cast<uint64_t>(2 * i + 1)))
                    : 0.0f;
  for (int64_t row = 0; row < kRows; ++row) values[row * kColumns + 2 * class_of(row)] += 1;
  return values;
}

Features noisy_rows(double noise = 0.8) { return Features::dense(kRows, kColumns, noisy_values(noise, 1)); }

ProbeProblem problem(const std::vector<int32_t>& rows, uint64_t seed) {
  ProbeProblem result{rows, {}, seed};
  for (const int32_t row : rows) result.labels.push_back(class_of(row));
  return result;
}

// The predictions of all candidates, one after the other.
std::vector<int32_t> history(const Features& features, std::vector<ProbeProblem> problems, const ProbeOptions& options,
                             int threads = 1) {
  const DesignMatrix x(features, range(0, kRows), Threads{threads});
  std::vector<int32_t> all;
  int64_t expected = 0;
  train_probes(
      x, kClasses, problems, options,
      [&](int64_t candidate, std::span<const int32_t> predictions) {
        EXPECT_EQ(candidate, expected++);
        all.insert(all.end(), predictions.begin(), predictions.end());
      },
      Threads{threads});
  EXPECT_EQ(expected, num_candidates(options));
  return all;
}

double share_right(std::span<const int32_t> predictions, const std::vector<int32_t>& rows) {
  double right = 0;
  for (const int32_t row : rows) right += predictions[row] == class_of(row);
  return right / static_cast<double>(rows.size());
}

const ProbeOptions kShort{.lr = 0.02, .weight_decay = 1e-3, .epochs = 150};
const ProbeOptions kConverged{.kind = ProbeKind::lbfgs};

TEST(Probe, LearnsWhatCanBeLearned) {
  for (const ProbeOptions& options : {kShort, kConverged}) {
    const std::vector<int32_t> all = history(noisy_rows(0.1), {problem(range(0, 30), 1)}, options);
    const std::span<const int32_t> last(all.end() - kRows, all.end());
    EXPECT_EQ(share_right(last, range(0, 30)), 1);
    EXPECT_EQ(share_right(last, range(30, 60)), 1);  // rows that were not trained on
  }
}

TEST(Probe, CannotLearnFromNoise) {
  Features noise = Features::dense(kRows, kColumns, Buffer<float>(static_cast<size_t>(kRows * kColumns), 1.0f));
  const std::vector<int32_t> all = history(noise, {problem(range(0, 30), 1)}, kShort);
  EXPECT_LE(share_right({all.end() - kRows, all.end()}, range(30, 60)), 0.34);  // all rows alike: one class for all
}

TEST(Probe, ProblemsSideBySideDoNotTouchEachOther) {
  for (const ProbeOptions& options : {kShort, kConverged}) {
    const std::vector<ProbeProblem> problems = {problem(range(0, 30), 1), problem(range(20, 55), 2),
                                                problem(range(0, 30), 3)};
    const int64_t candidates = num_candidates(options);
    const std::vector<int32_t> together = history(noisy_rows(), problems, options);
    for (size_t p = 0; p < problems.size(); ++p) {
      const std::vector<int32_t> alone = history(noisy_rows(), {problems[p]}, options);
      for (int64_t k = 0; k < candidates; ++k) {
        for (int64_t row = 0; row < kRows; ++row) {
          ASSERT_EQ(alone[k * kRows + row], together[(k * 3 + static_cast<int64_t>(p)) * kRows + row])
              << "problem " << p << " candidate " << k;
        }
      }
    }
  }
}

TEST(Probe, SeedsGiveOtherWeightsOnlyWithAdam) {
  const ProbeOptions first_epoch{.epochs = 1};
  EXPECT_NE(history(noisy_rows(), {problem(range(0, 30), 1)}, first_epoch),
            history(noisy_rows(), {problem(range(0, 30), 2)}, first_epoch));
  EXPECT_EQ(history(noisy_rows(), {problem(range(0, 30), 1)}, kConverged),
            history(noisy_rows(), {problem(range(0, 30), 2)}, kConverged));
}

// Weights in full, bit by bit: the gradients of a random point.
std::vector<float> gradients(const Features& features, int threads, const std::vector<ProbeProblem>& problems) {
  const DesignMatrix x(features, range(0, kRows), Threads{threads});
  SoftmaxLoss loss(x, kClasses, problems, Threads{threads});
  const Rng rng(3);
  std::vector<float> w(static_cast<size_t>(kColumns * loss.width())), bias(static_cast<size_t>(loss.width()));
  for (int64_t d = 0; d < kColumns; ++d) {
    for (int64_t j = 0; j < loss.width(); ++j)  // the same for every problem
      w[d * loss.width() + j] = static_cast<float>(rng.normal(static_cast<uint64_t>(d * kClasses + j % kClasses)));
  }
  for (int64_t j = 0; j < loss.width(); ++j) bias[j] = 0.3f * static_cast<float>(j % kClasses);
  std::vector<float> all(w.size() + bias.size());
  loss.forward(w.data(), bias.data());
  loss.backward(all.data(), all.data() + w.size());
  for (size_t p = 0; p < problems.size(); ++p) all.push_back(static_cast<float>(loss.loss(static_cast<int64_t>(p))));
  return all;
}

TEST(Probe, ThreadsDoNotChangeABit) {
  const std::vector<ProbeProblem> problems = {problem(range(0, 30), 1), problem(range(20, 55), 2)};
  const Features sparse = Features::compact(kRows, kColumns, noisy_values(0.5, 0.1));
  ASSERT_TRUE(sparse.is_sparse());
  for (const Features& features : {noisy_rows(), sparse}) {
    const std::vector<float> one = gradients(features, 1, problems);
    for (const int threads : {2, 8}) EXPECT_EQ(gradients(features, threads, problems), one);
  }
}

TEST(Probe, SparseRowsGiveWhatDenseRowsGive) {
  const Features sparse = Features::compact(kRows, kColumns, noisy_values(0.5, 0.1));
  const Features dense = Features::dense(kRows, kColumns, noisy_values(0.5, 0.1));
  ASSERT_TRUE(sparse.is_sparse());
  const std::vector<float> a = gradients(sparse, 1, {problem(range(0, 30), 1)});
  const std::vector<float> b = gradients(dense, 1, {problem(range(0, 30), 1)});
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 1e-6);
}

TEST(Probe, GradientsAgreeWithDifferences) {
  const std::vector<ProbeProblem> problems = {problem(range(3, 30), 1)};
  const DesignMatrix x(noisy_rows(), range(0, kRows), Threads{});
  SoftmaxLoss loss(x, kClasses, problems, Threads{});
  const Rng rng(9);
  std::vector<float> w(kColumns * kClasses), bias(kClasses, 0.1f), d_w(w.size()), d_bias(bias.size()), unused(w.size());
  for (size_t i = 0; i < w.size(); ++i) w[i] = static_cast<float>(rng.normal(i));
  loss.forward(w.data(), bias.data());
  loss.backward(d_w.data(), d_bias.data());
  const auto value = [&] {
    std::vector<float> more(bias.size());
    loss.forward(w.data(), bias.data());
    loss.backward(unused.data(), more.data());
    return loss.loss(0);
  };
  const auto check = [&](float& parameter, float gradient) {
    const float old = parameter, h = 1e-2f;
    parameter = old + h;
    const double up = value();
    parameter = old - h;
    const double down = value();
    parameter = old;
    EXPECT_NEAR((up - down) / (2 * h), gradient, 2e-4);
  };
  for (size_t i = 0; i < w.size(); ++i) check(w[i], d_w[i]);
  for (size_t i = 0; i < bias.size(); ++i) check(bias[i], d_bias[i]);
}

// A problem with a known optimum: one column that is 1 everywhere and a strong penalty leave only the bias, and the
// optimal bias predicts the shares of the classes. Checked through the class that is predicted.
TEST(Probe, ConvergedProbePredictsTheLargestClassFromTheBiasAlone) {
  const Features ones = Features::dense(kRows, 1, Buffer<float>(kRows, 1.0f));
  ProbeProblem uneven{range(0, 30), std::vector<int32_t>(30, 0), 0};
  for (int i = 0; i < 17; ++i) uneven.labels[i] = 2;
  const DesignMatrix x(ones, range(0, kRows), Threads{});
  int64_t calls = 0;
  const ProbeStatus status = train_probes(
      x, kClasses, std::vector{uneven}, kConverged,
      [&](int64_t, std::span<const int32_t> predictions) {
        ++calls;
        for (const int32_t prediction : predictions) EXPECT_EQ(prediction, 2);
      },
      Threads{});
  EXPECT_EQ(status.unconverged, 0);
  EXPECT_EQ(calls, num_candidates(kConverged));
}

// The gradient of the penalised loss, in double and plainly, vanishes at what is called the optimum.
TEST(PenalisedFit, EndsWhereTheGradientVanishes) {
  const Features rows = noisy_rows();
  const std::vector<ProbeProblem> problems = {problem(range(0, 30), 0), problem(range(20, 55), 0)};
  const DesignMatrix x(rows, range(0, kRows), Threads{});
  PenalisedFit fits(x, kClasses, problems, Threads{});
  for (const double penalty : {0.3, 0.01, 1e-4}) {
    EXPECT_EQ(fits.fit(penalty), 0);
    for (int64_t p = 0; p < 2; ++p) {
      const std::vector<double>& w = fits.parameters(p);
      std::vector<double> gradient(w.size(), 0);
      for (size_t i = 0; i < problems[p].rows.size(); ++i) {
        const std::span<const float> row = rows.dense_row(problems[p].rows[i]);
        std::vector<double> z(kClasses), share(kClasses);
        double sum = 0;
        for (int64_t c = 0; c < kClasses; ++c) {
          z[c] = w[kColumns * kClasses + c];
          for (int64_t d = 0; d < kColumns; ++d) z[c] += row[d] * w[d * kClasses + c];
          sum += std::exp(z[c]);
        }
        for (int64_t c = 0; c < kClasses; ++c) {
          const double g =
              (std::exp(z[c]) / sum - (problems[p].labels[i] == c)) / static_cast<double>(problems[p].rows.size());
          for (int64_t d = 0; d < kColumns; ++d) gradient[d * kClasses + c] += g * row[d];
          gradient[kColumns * kClasses + c] += g;
        }
      }
      double size = 0;
      for (int64_t i = 0; i < kColumns * kClasses; ++i) {
        gradient[i] += penalty * w[i];
        size = std::max(size, std::abs(w[i]));
      }
      EXPECT_GT(size, 0.1);  // not just zero
      for (const double value : gradient) EXPECT_NEAR(value, 0, 1e-4) << "penalty " << penalty;
    }
  }
}

TEST(Probe, DivergenceIsAnError) {
  const Features rows = noisy_rows();
  const ProbeOptions wild{.lr = 1e38, .epochs = 20};
  EXPECT_ERROR(train_probes(
                   DesignMatrix(rows, range(0, kRows), Threads{}), kClasses, std::vector{problem(range(0, 30), 1)},
                   wild, [](int64_t, std::span<const int32_t>) {}, Threads{}),
               ErrorKind::numerical, "not finite");
}

TEST(Probe, CandidatesHaveNames) {
  EXPECT_EQ(candidate_name(kShort, 0), "epoch 1");
  EXPECT_EQ(candidate_name(kConverged, 3), "penalty 0.001");
}

}  // namespace
}  // namespace graphpae
