// The decoder that reads distances back from refined positions, and its loss, in one pass with all gradients.
//
//   decode(r) = W2 . LayerNorm(gelu(r W1 + b1)) + b2            r [H] is the refined position of one directed edge
//   prediction(q) = (decode(forward edge) + decode(backward edge)) / 2       q is an undirected pair of EdgeIndex
//   loss = sum_q weight_q huber(prediction(q) - distance_q) / sum_q weight_q
//   huber(d) = d^2 / 2 for |d| < 1, |d| - 1/2 beyond
//
// Arrays are float32, row-major. Pairs go through in blocks that stay in the cache. Sums over pairs are made in a fixed
// number of parts, added in order: results do not depend on the number of threads.
#pragma once

#include <cstdint>

#include "graphpae/core/edge_index.h"
#include "graphpae/core/threads.h"

namespace graphpae::kernels {

struct PositionDecoder {
  int64_t heads;             // H
  int64_t hidden;            // K
  const float* weight1;      // [H,K]
  const float* bias1;        // [K]
  const float* norm_weight;  // [K]
  const float* norm_bias;    // [K]
  const float* weight2;      // [K]
  const float* bias2;        // [1]
};

// Of the same shapes; all are written, none is added to.
struct PositionDecoderGradients {
  float* weight1;
  float* bias1;
  float* norm_weight;
  float* norm_bias;
  float* weight2;
  float* bias2;
};

// Pairs to decode. `pairs` [Q] are indices of EdgeIndex::pair_forward, each at most once.
struct PositionTargets {
  int64_t count;           // Q
  const int32_t* pairs;    // [Q]
  const float* weights;    // [Q]
  const float* distances;  // [Q]
};

// The loss for refined positions [E,H]. Without pairs, or with weights of sum zero, it is zero and so are the
// gradients. Writes `gradients` and d_refined [E,H] (zero for edges of no pair), for a gradient of the loss of one.
double position_loss(const EdgeIndex& edges, const PositionDecoder& decoder, const PositionTargets& targets,
                     const float* refined, float* d_refined, const PositionDecoderGradients& gradients,
                     Threads threads);

}  // namespace graphpae::kernels
