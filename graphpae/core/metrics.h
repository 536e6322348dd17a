// Metrics: how good predictions are. Accuracy and F1 of classes, ROC-AUC, RMSE and MAE of graph properties.
//
// A label that is NaN is missing: its entry counts nowhere. Arrays that do not fit together and labels with no meaning
// are data errors; a prediction that is NaN is a numerical error, also where the label is missing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace graphpae {

// How scores are measured, see docs/evaluation.md.
// strict: chosen by validation, tested once. paper: as released, to compare with the paper's tables.
enum class Protocol { strict, paper };
inline const char* name_of(Protocol protocol) { return protocol == Protocol::strict ? "strict" : "paper"; }

// Of one class. What would divide by zero is 0.
struct ClassScore {
  int64_t support = 0;   // members of the class
  double precision = 0;  // share of what was predicted as the class that belongs to it
  double recall = 0;     // share of the members that was predicted as the class
  double f1 = 0;         // harmonic mean of precision and recall
};

// How often each class was taken for each other one.
class Confusion {
 public:
  explicit Confusion(int64_t classes);  // all counts 0; a data error below one class

  // One prediction more. Throws a data error if a class is outside 0 .. classes-1.
  void add(int64_t truth, int64_t predicted);
  // The counts of both. Throws a data error if the numbers of classes differ.
  Confusion& operator+=(const Confusion& other);

  int64_t classes() const { return classes_; }
  int64_t total() const;
  // Both throw a data error as add does.
  int64_t count(int64_t truth, int64_t predicted) const;
  ClassScore class_score(int64_t cls) const;

  // In 0 .. 1. Both throw a data error if nothing was added.
  double accuracy() const;
  // Mean F1 of the classes that occur as truth or as prediction; a class that is neither is left out.
  double macro_f1() const;

 private:
  size_t cell(int64_t truth, int64_t predicted) const;  // checked

  int64_t classes_;
  std::vector<int64_t> counts_;  // [C, C], a row per true class
};

// Share of predictions that are right, truth [N] and predicted [N]. Throws a data error if the sizes differ, if
// there are none, or if a truth is negative (unlabelled).
double accuracy(std::span<const int32_t> truth, std::span<const int32_t> predicted);

// Area under the ROC curve: how often a positive scores above a negative, a tie counted half. scores [N],
// labels [N] of 0, 1 or NaN. Nothing if the labels present are not of both classes. O(N log N).
std::optional<double> roc_auc(std::span<const double> scores, std::span<const double> labels);

// Root of the mean squared error and mean absolute error. predictions [N], labels [N]. Nothing if no label is present.
// An infinite label is a data error, an infinite prediction a numerical one.
std::optional<double> rmse(std::span<const double> predictions, std::span<const double> labels);
std::optional<double> mae(std::span<const double> predictions, std::span<const double> labels);

// Properties of graphs. Refers to values that must outlive it.
struct GraphTargets {
  std::vector<std::string> names;  // [T]
  std::span<const double> values;  // [G,T], NaN: missing

  int64_t tasks() const { return static_cast<int64_t>(names.size()); }
  double at(int64_t graph, int64_t task) const { return values[graph * tasks() + task]; }
};

enum class GraphMetric { rmse, rocauc };
const char* metric_name(GraphMetric metric);  // "rmse", "rocauc"

// ROC-AUC if every label present is 0 or 1, RMSE if no task is like that. Throws a data error that names two tasks if
// some are and some are not, or if there are no labels at all or infinite ones. A task without labels is neither.
GraphMetric graph_metric(const GraphTargets& targets);

}  // namespace graphpae
