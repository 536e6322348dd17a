// The probe of two classes: standardised columns, then logistic regression at its optimum (logistic_path.h), C chosen
// by the mean over stratified folds of the ROC-AUC. A fold that holds out one class only has no ROC-AUC and is left out
// of the mean. Same bits for any number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "graphpae/core/features.h"
#include "graphpae/core/threads.h"
#include "graphpae/evaluate/cross_validation.h"

namespace graphpae {

// What one probe is fitted on.
struct BinaryTask {
  std::vector<int32_t> rows;    // of X, in this order
  std::vector<uint8_t> labels;  // [rows] 0 or 1
};

// How many folds have both classes, among the rows held out and among the others. A choice needs at least two.
int64_t usable_folds(std::span<const uint8_t> labels);

// Fits a probe per task and predicts the rows `asked`: the score of class 1. `step` is called, by one thread at a time,
// kFolds + 1 times per task. Throws a data error if a task has fewer than two usable folds.
std::vector<FittedProbe> logistic_probes(const Features& rows, std::span<const BinaryTask> tasks,
                                         std::span<const int32_t> asked, Threads threads,
                                         const std::function<void()>& step = {});

}  // namespace graphpae
