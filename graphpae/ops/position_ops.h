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

// Clean and corrupted distances [E] embedded, [E,H] each; `corrupted` may be undefined. Distances are symmetric, self
// loops have distance 0, and many corrupted distances are clean ones: each distinct one is embedded once, and many of
// them through a table (kernels/distance_table.h), to the precision of float32.
//   two calls of DistanceEmbedding::forward
std::pair<torch::Tensor, torch::Tensor> embed_distances(const EdgesPtr& edges, const torch::Tensor& clean,
                                                        const torch::Tensor& corrupted,
                                                        const EmbeddingParameters& parameters, Threads threads);

// Parameters of the position decoder: dense [H,K] and [K], norm [K] and [K], out [1,K] and [1].
struct PositionDecoderParameters {
  torch::Tensor dense_weight, dense_bias, norm_weight, norm_bias, out_weight, out_bias;
};

// L_pos of refined positions [E,H] for clean distances [E] and masked nodes -> scalar. Gradients come with the forward
// pass.   distance_loss(decode_pairs(...))
torch::Tensor position_error(const EdgesPtr& edges, const torch::Tensor& refined, const torch::Tensor& distances,
                             const std::vector<int32_t>& masked, const PositionDecoderParameters& parameters,
                             Threads threads);

}  // namespace graphpae::ops
