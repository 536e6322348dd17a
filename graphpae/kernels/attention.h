// Attention over the edges into each node: a softmax whose logits are a number of the source, one of the target and one
// of the edge (its position).
//
// Arrays are row-major float32; edges are in the order of EdgeIndex. N nodes, E edges, H heads (any number from 1).
// Every row is computed by one thread in one order, so results do not depend on the number of threads.
#pragma once

#include <cstdint>

#include "graphpae/core/edge_index.h"
#include "graphpae/core/threads.h"

namespace graphpae::kernels {

// refined[e,h] = source_logits[j,h] + target_logits[i,h] + positions[e,h] for edge e: j -> i, and alpha, unless null:
// the softmax over the edges into each node of LeakyReLU(refined, slope). source_logits, target_logits [N,H];
// positions, refined, alpha [E,H].
void attention_forward(const EdgeIndex& edges, int64_t heads, float slope, const float* source_logits,
                       const float* target_logits, const float* positions, float* refined, float* alpha,
                       Threads threads);

// The gradient of refined alone: the sums of d_refined [E,H] over the edges out of a node, d_source_logits [N,H], and
// into it, d_target_logits [N,H]; both are written. The gradient of the positions is d_refined itself.
void edge_logits_backward(const EdgeIndex& edges, int64_t heads, const float* d_refined, float* d_source_logits,
                          float* d_target_logits, Threads threads);

// Gradients for d_alpha [E,H] and d_refined [E,H] (null: zero) with the results of the forward pass. Writes d_logit
// [E,H], which is the gradient of the positions, d_source_logits [N,H] and d_target_logits [N,H]. d_logit may be
// d_alpha or d_refined.
void attention_backward(const EdgeIndex& edges, int64_t heads, float slope, const float* refined, const float* alpha,
                        const float* d_alpha, const float* d_refined, float* d_logit, float* d_source_logits,
                        float* d_target_logits, Threads threads);

}  // namespace graphpae::kernels
