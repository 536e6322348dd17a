// Arrays of graphs as LibTorch tensors, and what LibTorch lacks.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>

#include "graphpae/core/features.h"
#include "graphpae/core/threads.h"

namespace graphpae {

// [N, F] float32: dense features, or a torch CSR tensor of sparse ones. It shares memory with the features, which must
// outlive it, and must not be written to.
torch::Tensor features_tensor(const Features& features);

// A copy, [n] int64: torch wants indices of 64 bits.
torch::Tensor int64_tensor(std::span<const int32_t> values);

// Softmax over the edges that share a target. values [E,H], targets [E] int64 -> [E,H]
torch::Tensor segment_softmax(const torch::Tensor& values, const torch::Tensor& targets, int64_t num_nodes);

// LibTorch starts with one thread: gives it as many as the rest of the program.
void use_threads_in_torch(Threads threads);

}  // namespace graphpae
