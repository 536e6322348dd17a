// Optimiser: Adam (Kingma and Ba 2015), AdamW (Loshchilov and Hutter 2019) or plain gradient descent.
#pragma once

#include <torch/types.h>

#include <string>
#include <vector>

#include "graphpae/core/threads.h"
#include "graphpae/model/named_tensors.h"
#include "graphpae/settings/settings.h"

namespace graphpae {

class Optimiser {
 public:
  // Updates `parameters` in place. Moments start at zero.
  Optimiser(OptimizerKind kind, double weight_decay, NamedTensors parameters, Threads threads = {});

  // One update with the gradients the parameters carry; those without a gradient stay as they are.
  void step(double lr);
  void clear_gradients();

  // Everything a later run needs to go on: "NAME.first" and "NAME.second" moments. The tensors are the optimiser's own.
  NamedTensors state() const;
  int64_t steps() const { return steps_; }
  void set_steps(int64_t steps) { steps_ = steps; }

 private:
  struct Slot {
    std::string name;
    torch::Tensor parameter, first, second;
  };
  void update(Slot& slot, double lr);

  OptimizerKind kind_;
  double weight_decay_;
  Threads threads_;
  std::vector<Slot> slots_;
  int64_t steps_ = 0;
};

// The learning rate of an epoch (0, 1, ..): linear warm-up to lr, then lr itself, or a cosine that reaches 0 after the
// last epoch. A restart begins another cosine at lr, without warm-up (Loshchilov and Hutter 2017); the one before it
// ends there.
double learning_rate(const Settings& settings, int64_t epoch);

}  // namespace graphpae
