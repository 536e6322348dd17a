#include "graphpae/core/metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graphpae/core/error.h"

namespace graphpae {
namespace {

double ratio(int64_t part, int64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

void check_sizes(size_t predictions, size_t labels) {
  if (predictions != labels) {
    throw data_error(fmt::format("{} predictions were found for {} labels", predictions, labels));
  }
}

// The mean `error` of every present (prediction, label).
template <class ErrorOf>
std::optional<double> mean_error(std::span<const double> predictions, std::span<const double> labels,
                                 const ErrorOf& error) {
  check_sizes(predictions.size(), labels.size());
  double sum = 0;
  int64_t count = 0;
  for (size_t i = 0; i < labels.size(); ++i) {
    if (!std::isfinite(predictions[i])) throw numerical_error(fmt::format("prediction {} is {}", i, predictions[i]));
    if (std::isinf(labels[i])) throw data_error(fmt::format("label {} is {}", i, labels[i]));
    if (std::isnan(labels[i])) continue;
    sum += error(predictions[i] - labels[i]);
    ++count;
  }
  if (count == 0) return std::nullopt;
  return sum / static_cast<double>(count);
}

}  // namespace

Confusion::Confusion(int64_t classes) : classes_(classes) {
  if (classes < 1) throw data_error(fmt::format("{} classes were found, expected at least 1", classes));
  counts_.assign(static_cast<size_t>(classes) * static_cast<size_t>(classes), 0);
}

size_t Confusion::cell(int64_t truth, int64_t predicted) const {
  for (const int64_t cls : {truth, predicted}) {
    if (cls < 0 || cls >= classes_) throw data_error(fmt::format("class {} is outside 0..{}", cls, classes_ - 1));
  }
  return static_cast<size_t>(truth * classes_ + predicted);
}

void Confusion::add(int64_t truth, int64_t predicted) { ++counts_[cell(truth, predicted)]; }

Confusion& Confusion::operator+=(const Confusion& other) {
  if (classes_ != other.classes_) {
    throw data_error(fmt::format("counts of {} and of {} classes cannot be added", classes_, other.classes_));
  }
  for (size_t i = 0; i < counts_.size(); ++i) counts_[i] += other.counts_[i];
  return *this;
}

int64_t Confusion::count(int64_t truth, int64_t predicted) const { return counts_[cell(truth, predicted)]; }

int64_t Confusion::total() const { return std::accumulate(counts_.begin(), counts_.end(), int64_t{0}); }

ClassScore Confusion::class_score(int64_t cls) const {
  const int64_t right = count(cls, cls);
  int64_t members = 0, predictions = 0;
  for (int64_t other = 0; other < classes_; ++other) {
    members += count(cls, other);
    predictions += count(other, cls);
  }
  // The harmonic mean without its 0 / 0 where both are zero.
  return {members, ratio(right, predictions), ratio(right, members), ratio(2 * right, members + predictions)};
}

double Confusion::accuracy() const {
  const int64_t all = total();
  if (all == 0) throw data_error("accuracy of no predictions");
  int64_t right = 0;
  for (int64_t cls = 0; cls < classes_; ++cls) right += count(cls, cls);
  return ratio(right, all);
}

double Confusion::macro_f1() const {
  if (total() == 0) throw data_error("F1 of no predictions");
  double sum = 0;
  int64_t seen = 0;
  for (int64_t cls = 0; cls < classes_; ++cls) {
    bool occurs = false;
    for (int64_t other = 0; other < classes_; ++other) occurs |= count(cls, other) > 0 || count(other, cls) > 0;
    if (!occurs) continue;
    sum += class_score(cls).f1;
    ++seen;
  }
  return sum / static_cast<double>(seen);
}

double accuracy(std::span<const int32_t> truth, std::span<const int32_t> predicted) {
  check_sizes(predicted.size(), truth.size());
  if (truth.empty()) throw data_error("accuracy of no predictions");
  int64_t right = 0;
  for (size_t i = 0; i < truth.size(); ++i) {
    if (truth[i] < 0) throw data_error(fmt::format("label {} is {}, expected a class", i, truth[i]));
    right += truth[i] == predicted[i];
  }
  return ratio(right, static_cast<int64_t>(truth.size()));
}

std::optional<double> roc_auc(std::span<const double> scores, std::span<const double> labels) {
  check_sizes(scores.size(), labels.size());
  struct Scored {
    double score;
    bool positive;
  };
  std::vector<Scored> present;
  present.reserve(labels.size());
  for (size_t i = 0; i < labels.size(); ++i) {
    if (std::isnan(scores[i])) throw numerical_error(fmt::format("score {} is NaN", i));
    if (std::isnan(labels[i])) continue;
    if (labels[i] != 0 && labels[i] != 1) throw data_error(fmt::format("label {} is {}, not 0 or 1", i, labels[i]));
    present.push_back({scores[i], labels[i] == 1});
  }
  std::sort(present.begin(), present.end(), [](const Scored& a, const Scored& b) { return a.score < b.score; });

  // Twice the number of pairs won, so that a tie is a whole number and the sum is exact.
  int64_t twice_won = 0, positives = 0, negatives = 0;
  for (auto begin = present.begin(); begin != present.end();) {
    const auto end = std::find_if(begin, present.end(), [&](const Scored& s) { return s.score != begin->score; });
    const int64_t tied_positives = std::count_if(begin, end, [](const Scored& s) { return s.positive; });
    const int64_t tied_negatives = (end - begin) - tied_positives;
    twice_won += tied_positives * (2 * negatives + tied_negatives);
    positives += tied_positives;
    negatives += tied_negatives;
    begin = end;
  }
  if (positives == 0 || negatives == 0) return std::nullopt;
  return ratio(twice_won, 2 * positives * negatives);
}

std::optional<double> rmse(std::span<const double> predictions, std::span<const double> labels) {
  const auto mean = mean_error(predictions, labels, [](double error) { return error * error; });
  return mean ? std::optional(std::sqrt(*mean)) : std::nullopt;
}

std::optional<double> mae(std::span<const double> predictions, std::span<const double> labels) {
  return mean_error(predictions, labels, [](double error) { return std::abs(error); });
}

const char* metric_name(GraphMetric metric) { return metric == GraphMetric::rmse ? "rmse" : "rocauc"; }

GraphMetric graph_metric(const GraphTargets& targets) {
  std::optional<int64_t> of_classes, of_numbers;  // the first task of each kind
  for (int64_t t = 0; t < targets.tasks(); ++t) {
    bool present = false, classes = true;
    for (size_t i = static_cast<size_t>(t); i < targets.values.size(); i += targets.names.size()) {
      const double label = targets.values[i];
      if (std::isnan(label)) continue;
      if (std::isinf(label)) throw data_error(fmt::format("task {} has an infinite label", targets.names[t]));
      present = true;
      classes = classes && (label == 0 || label == 1);
    }
    if (!present) continue;
    std::optional<int64_t>& first = classes ? of_classes : of_numbers;
    if (!first) first = t;
  }
  if (!of_classes && !of_numbers) throw data_error("the data have no labels: nothing to evaluate");
  if (of_classes && of_numbers) {
    throw data_error(
        fmt::format("task {} has labels 0 and 1 only, task {} has others: classes and numbers have no common "
                    "score; --tasks chooses",
                    targets.names[*of_classes], targets.names[*of_numbers]));
  }
  return of_classes ? GraphMetric::rocauc : GraphMetric::rmse;
}

}  // namespace graphpae
