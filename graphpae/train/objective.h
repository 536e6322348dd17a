// Objective: what fine-tuning learns from. It knows the data, their labels and a split; Finetuner knows how to train.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "graphpae/core/threads.h"
#include "graphpae/model/predictor.h"

namespace graphpae {

// Losses of labels have their gradients written out: sums run in one order, so they have the same bits for any number
// of threads.
struct LossAndGradient {
  double loss = 0;         // mean over the labels that are present
  torch::Tensor gradient;  // of the loss, shaped as the outputs; undefined if no label is present
};

// outputs [R,T] float32, labels [R,T], NaN: missing. l1: |o - y|, l2: (o - y)^2, bce: cross entropy of y in 0 .. 1 and
// sigmoid(o). Not for TargetLoss::automatic.
LossAndGradient target_loss(const torch::Tensor& outputs, std::span<const float> labels, TargetLoss loss);

// Cross entropy of softmax(outputs) [R,C] and classes [R], all in 0 .. C-1.
LossAndGradient class_loss(const torch::Tensor& outputs, std::span<const int32_t> classes);

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
