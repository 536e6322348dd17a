#include "graphpae/evaluate/tuned_probe.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>

#include "graphpae/core/rng.h"
#include "graphpae/evaluate/softmax_path.h"
#include "graphpae/evaluate/tuned_protocol.h"
#include "tests/support/expect_error.h"

namespace graphpae {
namespace {

constexpr int64_t kProbed = 60, kProbedClasses = 3;

// Noise with the class in the first columns, some of it zero; the same values as sparse rows if asked.
Features probed_rows(int64_t columns, bool sparse, uint64_t seed = 3) {
  const Rng rng(seed);
  std::vector<int64_t> offsets(1, 0);
  std::vector<int32_t> ids;
  std::vector<float> values;
  Buffer<float> dense(static_cast<size_t>(kProbed * columns), 0.0f);
  for (int64_t i = 0; i < kProbed; ++i) {
    for (int64_t d = 0; d < columns; ++d) {
      const auto k = static_cast<uint64_t>(i * columns + d);
      if (rng.stream(1).uniform(k) < 0.6 && d != i % kProbedClasses) continue;
      const auto value =
          static_cast<float>(rng.normal(k) * static_cast<double>(1 + d) + (d == i % kProbedClasses ? 3 : 0));
      dense[k] = value;
      ids.push_back(static_cast<int32_t>(d));
      values.push_back(value);
    }
    offsets.push_back(static_cast<int64_t>(ids.size()));
  }
  return sparse ? Features::sparse(kProbed, columns, offsets, ids, values)
                : Features::dense(kProbed, columns, std::move(dense));
}

std::vector<int32_t> probed_labels() {
  std::vector<int32_t> labels(kProbed);
  for (int64_t i = 0; i < kProbed; ++i) labels[i] = static_cast<int32_t>(i % kProbedClasses);
  return labels;
}

std::vector<int32_t> range(int32_t first, int32_t last) {
  std::vector<int32_t> ids(static_cast<size_t>(last - first));
  std::iota(ids.begin(), ids.end(), first);
  return ids;
}

// The gradient of the objective at the weights of `path`, in float64 over rows standardised here; its largest entry.
double largest_gradient(const Features& x, const std::vector<int32_t>& train, const LinearScores& scores,
                        double penalty) {
  const int64_t d = x.columns(), c = kProbedClasses;
  const auto n = static_cast<double>(train.size());
  std::vector<std::vector<double>> rows;
  for (const int32_t id : train) {
    rows.emplace_back(static_cast<size_t>(d));
    x.copy_row(id, rows.back().data());
  }
  std::vector<double> mean(static_cast<size_t>(d), 0), scale(mean);
  int64_t live = 0;
  for (int64_t k = 0; k < d; ++k) {
    for (const auto& row : rows) mean[k] += row[k] / n;
    for (const auto& row : rows) scale[k] += (row[k] - mean[k]) * (row[k] - mean[k]) / n;
    live += scale[k] > 0;
  }
  for (double& s : scale) s = s > 0 ? 1 / std::sqrt(s * static_cast<double>(live)) : 0;
  std::vector<double> gradient(static_cast<size_t>(d * c), 0), bias(static_cast<size_t>(c), 0);
  for (size_t i = 0; i < rows.size(); ++i) {
    std::vector<double> p(static_cast<size_t>(c));
    double total = 0;
    for (int64_t j = 0; j < c; ++j) {
      double z = scores.bias[j];
      for (int64_t k = 0; k < d; ++k) z += rows[i][k] * scores.weights[k * c + j];
      total += p[j] = std::exp(z);
    }
    for (int64_t j = 0; j < c; ++j) {
      const double g = (p[j] / total - (train[i] % c == j ? 1 : 0)) / n;
      bias[j] += g;
      for (int64_t k = 0; k < d; ++k) gradient[k * c + j] += g * (rows[i][k] - mean[k]) * scale[k];
    }
  }
  double largest = 0;
  for (int64_t k = 0; k < d; ++k) {
    for (int64_t j = 0; j < c; ++j) {
      const double weight = scale[k] > 0 ? scores.weights[k * c + j] / scale[k] : 0;
      largest = std::max(largest, std::abs(gradient[k * c + j] + penalty * weight));
    }
  }
  for (const double b : bias) largest = std::max(largest, std::abs(b));
  return largest;
}

// Narrow and wide, dense and sparse: products of columns, products of rows, and neither.
TEST(SoftmaxPath, EveryFormReachesTheOptimum) {
  const std::vector<int32_t> train = range(0, 30), labels = probed_labels();
  for (const auto& [columns, sparse] : {std::pair(8, false), {8, true}, {90, false}, {700, false}, {700, true}}) {
    const Features x = probed_rows(columns, sparse);
    const ProbeBlock block{&x};
    const StandardRows rows(std::span(&block, 1), train, Threads{});
    EXPECT_EQ(rows.is_dense(), !sparse || columns < 500) << columns;
    SoftmaxPath path(rows, std::span(labels).first(30), kProbedClasses);
    for (const double penalty : {1.0, 1e-2, 1e-4}) {
      EXPECT_TRUE(path.fit(penalty)) << columns << " " << penalty;
      EXPECT_LT(largest_gradient(x, train, path.scores(), penalty), 2e-4 * std::sqrt(penalty) + 1e-4)
          << columns << " " << sparse << " " << penalty;
    }
    EXPECT_LT(path.products(), 400);
  }
}

TEST(TunedProbe, SparseAndDenseRowsAndBlocksSideBySideAgree) {
  const std::vector<int32_t> train = range(0, 30), val = range(30, 45), test = range(45, 60), labels = probed_labels();
  const Features dense = probed_rows(40, false), sparse = probed_rows(40, true);
  const auto predicted = [&](const std::vector<ProbeBlock>& blocks) {
    const TunedProbe probe =
        fit_tuned_probe(blocks, labels, kProbedClasses, train, val, NodeMetric::accuracy, Threads{});
    EXPECT_EQ(probe.unconverged, 0);
    return log_probabilities(probe.scores, blocks, test, Threads{});
  };
  const std::vector<float> one = predicted({{&dense}});
  const std::vector<float> other = predicted({{&sparse}}), both = predicted({{&dense, 0.5}, {&sparse, 0.5}});
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_NEAR(one[i], other[i], 2e-3);
    EXPECT_NEAR(one[i], both[i], 2e-3);
  }
}

TEST(TunedProbe, ScalesAndShiftsOfColumnsDoNotMatter) {
  const std::vector<int32_t> labels = probed_labels();
  const Features x = probed_rows(20, false);
  Buffer<float> values(x.dense_values().begin(), x.dense_values().end());
  for (size_t i = 0; i < values.size(); ++i) values[i] = values[i] * static_cast<float>(1 + i % 20 * 50) + 7;
  const Features moved = Features::dense(kProbed, 20, std::move(values));
  const auto predicted = [&](const Features& rows) {
    const ProbeBlock block{&rows};
    const StandardRows own(std::span(&block, 1), range(0, 30), Threads{});
    SoftmaxPath path(own, std::span(labels).first(30), kProbedClasses);
    EXPECT_TRUE(path.fit(1e-2));
    return log_probabilities(path.scores(), std::span(&block, 1), range(45, 60), Threads{});
  };
  const std::vector<float> a = predicted(x), b = predicted(moved);
  for (size_t i = 0; i < a.size(); ++i) EXPECT_NEAR(a[i], b[i], 5e-3);
}

// One column says it all and is rare and small, or all the others are noise of its size: validation chooses how columns
// are scaled.
TEST(TunedProbe, ValidationChoosesHowColumnsAreScaled) {
  std::vector<int32_t> labels;
  Buffer<float> small_signal, large_signal;
  for (int32_t i = 0; i < 240; ++i) {
    labels.push_back(i % 2);
    for (int32_t d = 0; d < 12; ++d) {
      const auto noise = static_cast<float>(Rng(8).normal(static_cast<uint64_t>(i * 12 + d)));
      const float signal = (i % 2 == 0 ? 1.0f : -1.0f) + 0.4f * noise;
      small_signal.push_back(d == 0 ? 0.01f * signal : noise);
      large_signal.push_back(d == 0 ? signal : 0.01f * noise);
    }
  }
  const Features small = Features::dense(240, 12, std::move(small_signal)),
                 large = Features::dense(240, 12, std::move(large_signal));
  const auto candidate = [&](const Features& rows) {
    const ProbeBlock block{&rows};
    const TunedProbe probe =
        fit_tuned_probe(std::span(&block, 1), labels, 2, range(0, 30), range(30, 240), NodeMetric::accuracy, Threads{});
    EXPECT_GT(probe.validation, 0.9);
    return probe.candidate;
  };
  EXPECT_LT(candidate(small), kTunedPenalties);
  EXPECT_GE(candidate(large), kTunedPenalties);
}

// A rotation leaves rows as far from each other as they were: with columns scaled together nothing may change.
TEST(TunedProbe, RotatedBlocksAreScaledAsAWhole) {
  const std::vector<int32_t> labels = probed_labels();
  const Features x = probed_rows(2, false);
  Buffer<float> values(static_cast<size_t>(kProbed * 2));
  for (int64_t i = 0; i < kProbed; ++i) {
    const auto row = x.dense_row(i);
    values[2 * i] = 0.6f * row[0] - 0.8f * row[1];
    values[2 * i + 1] = 0.8f * row[0] + 0.6f * row[1];
  }
  const Features turned = Features::dense(kProbed, 2, std::move(values));
  const auto predicted = [&](const ProbeBlock& block) {
    const TunedProbe probe = fit_tuned_probe(std::span(&block, 1), labels, kProbedClasses, range(0, 30), range(30, 45),
                                             NodeMetric::accuracy, Threads{});
    return log_probabilities(probe.scores, std::span(&block, 1), range(45, 60), Threads{});
  };
  const auto one = predicted({&x, 1, true}), other = predicted({&turned, 1, true});
  for (size_t i = 0; i < one.size(); ++i) EXPECT_NEAR(one[i], other[i], 1e-3);
}

TEST(TunedProbe, RocAucIsForTwoClasses) {
  const Features x = probed_rows(5, false);
  const ProbeBlock block{&x};
  std::vector<int32_t> labels = probed_labels();
  const auto fit = [&](int64_t classes) {
    return fit_tuned_probe(std::span(&block, 1), labels, classes, range(0, 30), range(30, 45), NodeMetric::roc_auc,
                           Threads{});
  };
  EXPECT_USAGE_ERROR(fit(3), "two classes");
  for (int32_t& label : labels) label = label == 0 ? 1 : 0;
  EXPECT_GT(fit(2).validation, 0.8);
  EXPECT_DOUBLE_EQ(node_score(NodeMetric::roc_auc, std::vector<float>{0, 1, 0, 2, 0, 3}, 2, std::vector{0, 0, 1},
                              std::vector{0, 1, 2}),
                   1.0);
  for (int32_t i = 30; i < 45; ++i) labels[i] = 0;
  EXPECT_DATA_ERROR(fit(2), "both classes");
}

TEST(TunedProtocol, ThreadsDoNotMatterAndTestLabelsChooseNothing) {
  const Features x = probed_rows(600, true);
  const ProbeBlock block{&x};
  std::vector<int32_t> labels = probed_labels();
  const std::vector<Split> splits = {{range(0, 30), range(30, 45), range(45, 60)},
                                     {range(30, 60), range(15, 30), range(0, 15)}};
  const auto run = [&](int threads) {
    TunedOptions options;
    options.threads.count = threads;
    return evaluate_tuned(std::span(&block, 1), labels, kProbedClasses, splits, options);
  };
  const TunedEvaluation one = run(1), three = run(3);
  ASSERT_EQ(one.scores.test.size(), 2u);
  EXPECT_EQ(one.scores.test, three.scores.test);
  for (size_t s = 0; s < 2; ++s) {
    EXPECT_EQ(one.predictions[s].test, three.predictions[s].test);
    EXPECT_EQ(one.predictions[s].val, three.predictions[s].val);
  }
  for (int32_t i = 45; i < 60; ++i) labels[i] = (labels[i] + 1) % kProbedClasses;
  EXPECT_EQ(run(1).predictions[0].test, one.predictions[0].test);
}

}  // namespace
}  // namespace graphpae
