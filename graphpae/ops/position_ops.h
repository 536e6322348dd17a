// Fused distance embedding and fused position loss, with gradients. All tensors are float32 and contiguous.
#pragma once

#include <torch/types.h>

#include <vector>

#include "graphpae/ops/attention_ops.h"

namespace graphpae::ops {

// Parameters of the distance embedding: means, deviations [G], lift [G,K] and [K], project [K,H] and [H].
struct EmbeddingParameters {
  torch::Tensor means, deviations, lift_weight, lift_bias, project_weight, project_bias;
  bool density;
};

// values [M] -> [M,H]
torch::Tensor embed_values(const Buffer<float>& values, const EmbeddingParameters& parameters, Threads threads);

// Distances embedded, each distinct one once: they are symmetric, self loops have distance 0, and many corrupted
// distances are clean ones. Many of them go through a table (kernels/distance_table.h), to the precision of float32.
struct DistanceRows {
  torch::Tensor rows;      // [M,H]; rows 0 .. pairs-1 are the clean distances of the pairs, row `pairs` is distance 0
  RowMap corrupted_place;  // [pairs+1] the row of each pair's corrupted distance; null if there are none
};
// clean, corrupted [E]; `corrupted` may be undefined.
DistanceRows embed_distance_rows(const EdgesPtr& edges, const torch::Tensor& clean, const torch::Tensor& corrupted,
                                 const EmbeddingParameters& parameters, Threads threads);

// The same as one row per edge, [E,H] each.   two calls of DistanceEmbedding::forward
std::pair<torch::Tensor, torch::Tensor> embed_distances(const EdgesPtr& edges, const torch::Tensor& clean,
                                                        const torch::Tensor& corrupted,
                                                        const EmbeddingParameters& parameters, Threads threads);

// Parameters of the position decoder: dense [H,K] and [K], norm [K] and [K], out [1,K] and [1].
struct PositionDecoderParameters {
  torch::Tensor dense_weight, dense_bias, norm_weight, norm_bias, out_weight, out_bias;
};

// The pairs that L_pos counts: those with a masked end, once for each.
struct CountedPairs {
  std::vector<int32_t> pairs;             // [Q]
  std::vector<float> weights, distances;  // [Q] how often a pair counts, and its clean distance
};
CountedPairs counted_pairs(const EdgeIndex& edges, const torch::Tensor& distances, const std::vector<int32_t>& masked);

// L_pos of refined positions [E,H] for clean distances [E] and masked nodes -> scalar. Gradients come with the forward
// pass.   distance_loss(decode_pairs(...))
torch::Tensor position_error(const EdgesPtr& edges, const torch::Tensor& refined, const torch::Tensor& distances,
                             const std::vector<int32_t>& masked, const PositionDecoderParameters& parameters,
                             Threads threads);

}  // namespace graphpae::ops
