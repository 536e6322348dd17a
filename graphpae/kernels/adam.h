// Parameter updates, one pass over memory each, with the formulas and the order of operations of PyTorch.
#pragma once

#include <cstdint>

#include "graphpae/core/threads.h"

namespace graphpae::kernels {

enum class UpdateRule { kAdam, kAdamW, kSgd };

struct UpdateOptions {
  UpdateRule rule = UpdateRule::kAdam;
  double rate = 1e-3;
  double beta1 = 0.9;
  double beta2 = 0.999;
  double epsilon = 1e-8;
  double weight_decay = 0;  // added to the gradient (Adam, SGD) or shrinks the parameter (AdamW)
};

// Updates parameter [n] from gradient [n]. first and second [n] are the moments, zero before the first step and not
// used (may be null) by SGD. `step` is 1 for the first step.
void update_parameter(const UpdateOptions& options, int64_t step, const float* gradient, int64_t n, float* parameter,
                      float* first, float* second, Threads threads);

}  // namespace graphpae::kernels
