// Metrics: how good predictions are. Accuracy and F1 of classes, ROC-AUC, RMSE and MAE of graph properties.
//
// Graph properties are arrays [G, T], row by row: G graphs, T tasks. A label that is NaN is missing: its entry
// counts nowhere. Arrays that do not fit together and labels with no meaning are data errors; a prediction that
// is NaN is a numerical error, also where the label is missing.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace graphpae {

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

// Root of the mean squared error and mean absolute error: one number per task, then the mean of the tasks that
// have a label. predictions [G, T], labels [G, T]. Nothing if no label is present. An infinite label is a data
// error, an infinite prediction a numerical one.
std::optional<double> rmse(std::span<const double> predictions, std::span<const double> labels, int64_t tasks = 1);
std::optional<double> mae(std::span<const double> predictions, std::span<const double> labels, int64_t tasks = 1);

}  // namespace graphpae
