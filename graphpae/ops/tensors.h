// Arrays of graphs as LibTorch tensors.
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

// LibTorch starts with one thread: gives it as many as the rest of the program.
void use_threads_in_torch(Threads threads);

}  // namespace graphpae
