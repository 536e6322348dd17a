// Objective: what fine-tuning learns from. It knows the data, their labels and a split; Finetuner knows how to train.
#pragma once

#include <cstdint>
#include <string>

#include "graphpae/core/threads.h"
#include "graphpae/model/predictor.h"
#include "graphpae/train/target_loss.h"

namespace graphpae {

struct StepLoss {
  torch::Tensor outputs;  // of the head, with a gradient
  LossAndGradient value;  // its gradient is undefined if the batch has no labels
};

class Objective {
 public:
  virtual ~Objective() = default;

  virtual PredictorTasks tasks() const = 0;  // what outputs mean
  virtual InputShape shape() const = 0;
  virtual Threads threads() const = 0;
  virtual std::string key() const = 0;  // which targets and split, in a few words
  virtual bool larger_is_better() const = 0;

  virtual void set_scale(Predictor& predictor) const = 0;  // from outputs to units of the labels
  // The encoder will not change: its rows may be computed once.
  virtual void keep_rows(Predictor& predictor) = 0;

  virtual int64_t steps_per_epoch() const = 0;
  // The loss of a step, a pure function of the arguments.
  virtual StepLoss step(Predictor& predictor, int64_t epoch, int64_t step, uint64_t dropout_key) = 0;
  // The score of the validation part, by which an epoch is chosen.
  virtual double validate(Predictor& predictor) = 0;
};

}  // namespace graphpae
