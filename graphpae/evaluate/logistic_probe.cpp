#include "graphpae/evaluate/logistic_probe.h"

#include <fmt/format.h>

#include <algorithm>
#include <mutex>

#include "graphpae/core/error.h"
#include "graphpae/core/metrics.h"
#include "graphpae/evaluate/logistic_path.h"
#include "graphpae/evaluate/softmax_path.h"
#include "graphpae/evaluate/standard_rows.h"

namespace graphpae {
namespace {

constexpr size_t kGrid = kPenaltyGrid.size();
constexpr int64_t kWidestDense = 1024;  // columns of sparse rows that are made dense

// A task without one of its folds.
struct FoldParts {
  BinaryTask fitted, held_out;

  FoldParts(const BinaryTask& task, const std::vector<int32_t>& fold_of, int64_t fold) {
    for (size_t i = 0; i < task.rows.size(); ++i) {
      BinaryTask& part = fold_of[i] == fold ? held_out : fitted;
      part.rows.push_back(task.rows[i]);
      part.labels.push_back(task.labels[i]);
    }
  }
  bool usable() const { return has_both(fitted) && has_both(held_out); }

  static bool has_both(const BinaryTask& part) {
    const auto ones = std::count(part.labels.begin(), part.labels.end(), 1);
    return ones > 0 && ones < static_cast<int64_t>(part.labels.size());
  }
};

struct FoldResult {
  bool usable = false;
  std::vector<double> scores;                 // [grid] ROC-AUC of the rows held out
  std::vector<LinearClassifier> classifiers;  // [grid]
  int64_t unconverged = 0;
};

FoldResult fit_fold(RowsView x, const FoldParts& parts) {
  FoldResult result;
  result.usable = parts.usable();
  if (!result.usable) return result;
  LogisticPath path(x, parts.fitted.rows, parts.fitted.labels);
  const std::vector<double> labels(parts.held_out.labels.begin(), parts.held_out.labels.end());
  for (const double c : kPenaltyGrid) {  // from strong to weak: each optimum is the start for the next
    result.unconverged += !path.fit(c);
    result.classifiers.push_back(path.classifier());
    std::vector<double> scores;
    for (const int32_t id : parts.held_out.rows) scores.push_back(result.classifiers.back().score(x.row(id)));
    result.scores.push_back(*roc_auc(scores, labels));
  }
  return result;
}

// Wide sparse rows: the same optimum from products of sparse rows (softmax_path.h), which never makes them dense. A
// classifier w of standardised columns is the difference of two, w/2 and -w/2, and rows are of mean squared length 1.
class SparsePath {
 public:
  SparsePath(const Features& rows, const BinaryTask& task)
      : block_{&rows},
        x_(std::span(&block_, 1), task.rows, Threads{}),
        path_(x_, std::vector<int32_t>(task.labels.begin(), task.labels.end()), 2),
        unit_(static_cast<double>(static_cast<int64_t>(task.rows.size()) * std::max<int64_t>(1, x_.live_columns()))) {}

  bool fit(double c) { return path_.fit(2 / (c * unit_)); }
  std::vector<double> scores(std::span<const int32_t> ids) const {
    std::vector<float> both(2 * ids.size());
    path_.scores().apply(std::span(&block_, 1), ids, both.data(), Threads{});
    std::vector<double> odds;
    for (size_t i = 0; i < ids.size(); ++i) odds.push_back(static_cast<double>(both[2 * i + 1]) - both[2 * i]);
    return odds;
  }

 private:
  ProbeBlock block_;
  StandardRows x_;
  SoftmaxPath path_;
  double unit_;
};

FoldResult fit_sparse_fold(const Features& rows, const FoldParts& parts) {
  FoldResult result;
  result.usable = parts.usable();
  if (!result.usable) return result;
  SparsePath path(rows, parts.fitted);
  const std::vector<double> labels(parts.held_out.labels.begin(), parts.held_out.labels.end());
  for (const double c : kPenaltyGrid) {
    result.unconverged += !path.fit(c);
    result.scores.push_back(*roc_auc(path.scores(parts.held_out.rows), labels));
  }
  return result;
}

// The middle of what the folds found: close to the optimum of all rows.
LinearClassifier middle(std::span<const FoldResult> folds, int64_t penalty, int64_t columns) {
  LinearClassifier sum{std::vector<double>(static_cast<size_t>(columns), 0), 0};
  double count = 0;
  for (const FoldResult& fold : folds) {
    if (!fold.usable) continue;
    const LinearClassifier& one = fold.classifiers[penalty];
    for (int64_t d = 0; d < columns; ++d) sum.weights[d] += one.weights[d];
    sum.bias += one.bias;
    ++count;
  }
  for (double& weight : sum.weights) weight /= count;
  sum.bias /= count;
  return sum;
}

// The penalty that the folds choose.
FittedProbe chosen_by(std::span<const FoldResult> folds) {
  FittedProbe probe;
  probe.scores.assign(kGrid, 0);
  probe.folds_used = std::count_if(folds.begin(), folds.end(), [](const FoldResult& fold) { return fold.usable; });
  for (const FoldResult& fold : folds) {
    if (!fold.usable) continue;
    for (size_t k = 0; k < kGrid; ++k) probe.scores[k] += fold.scores[k] / static_cast<double>(probe.folds_used);
    probe.unconverged += fold.unconverged;
  }
  probe.penalty = kPenaltyGrid[best_penalty(probe.scores)];
  return probe;
}

FittedProbe fit_all_sparse(const Features& rows, const BinaryTask& task, std::span<const FoldResult> folds,
                           std::span<const int32_t> asked) {
  FittedProbe probe = chosen_by(folds);
  SparsePath path(rows, task);
  for (const double c : kPenaltyGrid) {
    if (c <= probe.penalty) probe.unconverged += !path.fit(c);
  }
  probe.predictions = path.scores(asked);
  return probe;
}

FittedProbe fit_all(RowsView x, const BinaryTask& task, std::span<const FoldResult> folds,
                    std::span<const int32_t> asked) {
  FittedProbe probe = chosen_by(folds);
  const int64_t best = best_penalty(probe.scores);
  LogisticPath path(x, task.rows, task.labels);
  path.start_at(middle(folds, best, x.columns));
  probe.unconverged += !path.fit(probe.penalty);
  const LinearClassifier classifier = path.classifier();
  for (const int32_t id : asked) probe.predictions.push_back(classifier.score(x.row(id)));
  return probe;
}

// [rows,columns]
Buffer<float> dense_copy(const Features& rows) {
  Buffer<float> values(static_cast<size_t>(rows.rows() * rows.columns()));
  for (int64_t i = 0; i < rows.rows(); ++i) rows.copy_row(i, values.data() + i * rows.columns());
  return values;
}

}  // namespace

int64_t usable_folds(std::span<const uint8_t> labels) {
  BinaryTask task;
  task.rows.resize(labels.size());
  task.labels.assign(labels.begin(), labels.end());
  const std::vector<int32_t> fold_of = stratified_folds(labels);
  int64_t count = 0;
  for (int64_t fold = 0; fold < kFolds; ++fold) count += FoldParts(task, fold_of, fold).usable() ? 1 : 0;
  return count;
}

std::vector<FittedProbe> logistic_probes(const Features& rows, std::span<const BinaryTask> tasks,
                                         std::span<const int32_t> asked, Threads threads,
                                         const std::function<void()>& step) {
  for (const BinaryTask& task : tasks) {
    if (usable_folds(task.labels) < 2)
      throw data_error(fmt::format("{} labels have too few of one class for cross validation", task.labels.size()));
  }
  const bool wide = rows.is_sparse() && rows.columns() > kWidestDense;
  const Buffer<float> dense = rows.is_sparse() && !wide ? dense_copy(rows) : Buffer<float>();
  const RowsView x{wide ? nullptr : rows.is_sparse() ? dense.data() : rows.dense_values().data(), rows.columns()};
  std::vector<std::vector<int32_t>> folds_of;
  for (const BinaryTask& task : tasks) folds_of.push_back(stratified_folds(task.labels));

  std::mutex one_at_a_time;
  const auto done = [&] {
    const std::lock_guard lock(one_at_a_time);
    if (step) step();
  };
  const auto count = static_cast<int64_t>(tasks.size());
  std::vector<FoldResult> folds(static_cast<size_t>(count * kFolds));
  parallel_tasks(threads, count * kFolds, [&](int64_t k) {
    flush_denormals();  // as the kernels do: no thread may see other numbers
    const FoldParts parts(tasks[k / kFolds], folds_of[k / kFolds], k % kFolds);
    folds[k] = wide ? fit_sparse_fold(rows, parts) : fit_fold(x, parts);
    done();
  });
  std::vector<FittedProbe> probes(tasks.size());
  parallel_tasks(threads, count, [&](int64_t t) {
    flush_denormals();
    const auto own = std::span(folds).subspan(static_cast<size_t>(t * kFolds), kFolds);
    probes[t] = wide ? fit_all_sparse(rows, tasks[t], own, asked) : fit_all(x, tasks[t], own, asked);
    done();
  });
  return probes;
}

}  // namespace graphpae
