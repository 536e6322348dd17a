// Graph arrays as LibTorch tensors, without copying.
//
// The tensors share memory with the graph, which must outlive them, and must not be written to.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <span>

#include "graphpae/core/graph.h"
#include "graphpae/core/threads.h"

namespace graphpae {

torch::Tensor row_offsets_tensor(const Adjacency& adjacency);  // [N+1] int64
torch::Tensor neighbours_tensor(const Adjacency& adjacency);   // [directed edges] int32

// Dense features as they are; sparse ones as a torch CSR tensor. [N, F] float32
torch::Tensor features_tensor(const Features& features);

// [N] int64, -1 = unlabelled. A copy: torch wants 64 bits.
torch::Tensor labels_tensor(const Graph& graph);

// A copy, [n] int64: torch wants indices of 64 bits.
torch::Tensor int64_tensor(std::span<const int32_t> values);

// LibTorch starts with one thread: gives it as many as the rest of the program.
void use_threads_in_torch(Threads threads);

}  // namespace graphpae
