#include "graphpae/evaluate/tuned_probe.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graphpae/core/error.h"
#include "graphpae/core/metrics.h"
#include "graphpae/evaluate/softmax_path.h"

namespace graphpae {
namespace {

constexpr int64_t kPatience = 4;                   // penalties without a better validation score
constexpr int64_t kSharedWork = int64_t{1} << 20;  // values of the training rows that are worth several threads

int64_t stored_values(std::span<const ProbeBlock> blocks, int64_t rows) {
  int64_t values = 0;
  for (const ProbeBlock& block : blocks) {
    const auto all = static_cast<double>(block.rows->is_sparse() ? block.rows->nonzeros()
                                                                 : block.rows->rows() * block.rows->columns());
    values += static_cast<int64_t>(all * static_cast<double>(rows) / std::max<double>(1, block.rows->rows()));
  }
  return values;
}

}  // namespace

const char* metric_name(NodeMetric metric) { return metric == NodeMetric::accuracy ? "accuracy" : "rocauc"; }

double tuned_penalty(int64_t candidate) {
  return std::pow(10.0, -static_cast<double>(candidate % kTunedPenalties) / 2);
}

std::vector<int32_t> likeliest(std::span<const float> scores, int64_t classes) {
  std::vector<int32_t> found(scores.size() / static_cast<size_t>(classes));
  for (size_t i = 0; i < found.size(); ++i) {
    const float* row = scores.data() + static_cast<int64_t>(i) * classes;
    found[i] = static_cast<int32_t>(std::max_element(row, row + classes) - row);
  }
  return found;
}

double node_score(NodeMetric metric, std::span<const float> scores, int64_t classes, std::span<const int32_t> labels,
                  std::span<const int32_t> ids) {
  if (metric == NodeMetric::accuracy) {
    const std::vector<int32_t> predicted = likeliest(scores, classes);
    int64_t right = 0;
    for (size_t i = 0; i < ids.size(); ++i) right += predicted[i] == labels[ids[i]];
    return static_cast<double>(right) / static_cast<double>(ids.size());
  }
  std::vector<double> odds(ids.size()), truth(ids.size());
  for (size_t i = 0; i < ids.size(); ++i) {
    odds[i] = static_cast<double>(scores[2 * i + 1]) - scores[2 * i];
    truth[i] = labels[ids[i]];
  }
  const auto area = roc_auc(odds, truth);
  if (!area) throw data_error("ROC-AUC needs rows of both classes in every validation and test part");
  return *area;
}

TunedProbe fit_tuned_probe(std::span<const ProbeBlock> blocks, std::span<const int32_t> labels, int64_t classes,
                           std::span<const int32_t> train, std::span<const int32_t> val, NodeMetric metric,
                           Threads threads) {
  if (metric == NodeMetric::roc_auc && classes != 2)
    throw usage_error("ROC-AUC is for two classes; --metric accuracy is for more");
  if (stored_values(blocks, static_cast<int64_t>(train.size())) < kSharedWork) threads = Threads{};
  std::vector<int32_t> own;
  for (const int32_t id : train) own.push_back(labels[id]);
  TunedProbe best;
  best.validation = -std::numeric_limits<double>::infinity();
  std::vector<float> scored(val.size() * static_cast<size_t>(classes));
  int64_t unconverged = 0;
  const auto follow_path = [&](std::span<const ProbeBlock> scaled, int64_t first) {
    const StandardRows x(scaled, train, threads);
    SoftmaxPath path(x, own, classes);
    double own_best = -std::numeric_limits<double>::infinity();
    for (int64_t k = 0, best_place = 0; k < kTunedPenalties && k <= best_place + kPatience; ++k) {
      unconverged += path.fit(tuned_penalty(k)) ? 0 : 1;
      LinearScores scores = path.scores();
      scores.apply(scaled, val, scored.data(), threads);
      const double score = node_score(metric, scored, classes, labels, val);
      if (score > own_best) {
        own_best = score;
        best_place = k;
      }
      if (score > best.validation) best = {std::move(scores), first + k, tuned_penalty(k), score, 0};
    }
  };
  std::vector<ProbeBlock> together(blocks.begin(), blocks.end());
  for (ProbeBlock& block : together) block.rotated = true;
  const bool all_rotated = std::all_of(blocks.begin(), blocks.end(),
                                       [](const ProbeBlock& one) { return one.rotated || one.rows->columns() == 1; });
  if (!all_rotated) follow_path(blocks, 0);
  follow_path(together, kTunedPenalties);
  best.unconverged = unconverged;
  return best;
}

std::vector<float> log_probabilities(const LinearScores& scores, std::span<const ProbeBlock> blocks,
                                     std::span<const int32_t> ids, Threads threads) {
  const int64_t classes = scores.outputs;
  std::vector<float> values(ids.size() * static_cast<size_t>(classes));
  scores.apply(blocks, ids, values.data(), threads);
  for (size_t i = 0; i < ids.size(); ++i) {
    float* row = values.data() + static_cast<int64_t>(i) * classes;
    const float top = *std::max_element(row, row + classes);
    double total = 0;
    for (int64_t c = 0; c < classes; ++c) total += std::exp(static_cast<double>(row[c]) - top);
    const double shift = top + std::log(total);
    for (int64_t c = 0; c < classes; ++c) row[c] = static_cast<float>(row[c] - shift);
  }
  return values;
}

}  // namespace graphpae
