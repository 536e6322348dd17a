// What was chosen (block_choice.h), fitted on all training rows of a split.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graphpae/core/split.h"
#include "graphpae/core/threads.h"
#include "graphpae/evaluate/block_choice.h"

namespace graphpae {

struct FitOptions {
  int64_t most_rows = 6000;    // training rows; of more, so many are drawn
  bool penalty_by_val = true;  // among the chosen penalty and two on either side; else the chosen one
  uint64_t seed = 0;
  Threads threads;
};

// From outputs of a ridge to probabilities: softmax of `slope` times the outputs of classes; for properties that are 0
// or 1 the logistic function of slope * output + offset, one for each; nothing for numbers.
struct Calibration {
  std::vector<double> slopes, offsets;  // [1] of classes, or [T]
  // outputs [rows,T] become probabilities in place.
  void apply(const LearningTask& task, std::span<float> outputs) const;
};

// Slopes and offsets that make what is known of `ids` most likely; outputs [ids,T].
Calibration calibrate(const LearningTask& task, std::span<const int32_t> ids, std::span<const float> outputs);

struct FittedChoice {
  int64_t penalty = 0;  // candidate
  std::optional<double> validation;
  std::vector<float> asked;  // [asked,T] outputs for the rows asked for
  Calibration calibration;   // by the validation rows
};

// Fits on split.train and looks at split.val; targets of rows asked for are not read.
FittedChoice fit_choice(const KernelSum& sum, int64_t penalty, const KernelList& kernels, const LearningTask& task,
                        const Split& split, std::span<const int32_t> asked, const FitOptions& options);

// Outputs [asked,T] of a fit on the rows `train`, at one penalty.
std::vector<float> fit_rows(const KernelSum& sum, int64_t penalty, const KernelList& kernels, const LearningTask& task,
                            std::span<const int32_t> train, std::span<const int32_t> asked, const FitOptions& options);

}  // namespace graphpae
