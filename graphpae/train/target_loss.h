// Losses of labels, with their gradients written out: sums run in one order, so they have the same bits for any number
// of threads.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>

#include "graphpae/settings/finetune_settings.h"

namespace graphpae {

struct LossAndGradient {
  double loss = 0;         // mean over the labels that are present
  torch::Tensor gradient;  // of the loss, shaped as the outputs; undefined if no label is present
};

// outputs [R,T] float32, labels [R,T], NaN: missing. l1: |o - y|, l2: (o - y)^2, bce: cross entropy of y in 0 .. 1 and
// sigmoid(o). Not for TargetLoss::automatic.
LossAndGradient target_loss(const torch::Tensor& outputs, std::span<const float> labels, TargetLoss loss);

// Cross entropy of softmax(outputs) [R,C] and classes [R], all in 0 .. C-1.
LossAndGradient class_loss(const torch::Tensor& outputs, std::span<const int32_t> classes);

}  // namespace graphpae
