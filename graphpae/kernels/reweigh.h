// Attention with weights of edges.
#pragma once

#include <cstdint>
#include <span>

#include "graphpae/core/threads.h"

namespace graphpae::kernels {

// alpha [E,H], sums to 1 over the edges offsets[i] .. offsets[i+1] into each node: times the weight of the edge [E],
// then made to sum to 1 again. Of a softmax this is what adding the logarithm of the weight to every logit gives, and
// the gradient with respect to the logits is that of a softmax with the new alpha.
void reweigh(std::span<const int64_t> offsets, int64_t heads, const float* weights, float* alpha, Threads threads);

// The same for the edges into one node: weights [edges], alpha [edges,H].
void reweigh_target(int64_t edges, int64_t heads, const float* weights, float* alpha);

}  // namespace graphpae::kernels
