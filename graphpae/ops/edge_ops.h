// Plain LibTorch operations on the edges of a graph.
#pragma once

#include <torch/types.h>

namespace graphpae::ops {

// Softmax over the edges that share a target. values [E,H], targets [E] int64 -> [E,H]
torch::Tensor segment_softmax(const torch::Tensor& values, const torch::Tensor& targets, int64_t num_nodes);

}  // namespace graphpae::ops
