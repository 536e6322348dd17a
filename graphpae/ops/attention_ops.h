// Fused attention over edges, with gradients. All tensors are float32 and contiguous. The plain twin is GatLayer's
// reference form.
#pragma once

#include <torch/types.h>

#include <memory>
#include <span>
#include <utility>
#include <vector>

#include "graphpae/core/edge_index.h"
#include "graphpae/core/threads.h"
#include "graphpae/kernels/aggregate.h"

namespace graphpae::ops {

using EdgesPtr = std::shared_ptr<const EdgeIndex>;
using WorkspacePtr = std::shared_ptr<kernels::Workspace>;
using EdgeWeightsPtr = std::shared_ptr<const std::vector<float>>;  // [E] above 0; null: all edges count the same
using RowMap = std::shared_ptr<const std::vector<int32_t>>;        // which row each item has; null: its own

// z [N,D], attention vectors [H,C] -> logits of sources and targets, [N,H] each.   (z.view(N,H,C) * a).sum(-1)
std::pair<torch::Tensor, torch::Tensor> head_logits(const torch::Tensor& z, const torch::Tensor& source,
                                                    const torch::Tensor& target, Threads threads);

// source, target [N,H], positions [E,H] or undefined -> refined [E,H].   source[j] + target[i] + positions
torch::Tensor edge_logits(const EdgesPtr& edges, const torch::Tensor& source, const torch::Tensor& target,
                          const torch::Tensor& positions, Threads threads);

// z [N,D], attention vectors [H,C], positions [E,H] or undefined, bias [D] -> (nodes [N,D], refined [E,H]):
//   refined from both of the above, alpha = softmax(LeakyReLU(refined) + log(weight of the edge)),
//   nodes_i = bias + sum_j dropout(alpha_ij) z_j
std::pair<torch::Tensor, torch::Tensor> attend(const EdgesPtr& edges, const torch::Tensor& z,
                                               const torch::Tensor& source, const torch::Tensor& target,
                                               const torch::Tensor& positions, const torch::Tensor& bias, double slope,
                                               const kernels::Dropout& edge_dropout, const WorkspacePtr& workspace,
                                               Threads threads, const EdgeWeightsPtr& edge_weights = nullptr);

// The same at `targets` [M] alone, from x [N,K] and weight [K,D], z = x weight -> (nodes [M,D], refined [S,H] of the
// edges into the targets, target after target). The sums over edges are taken before the product with the weight, which
// then has M rows instead of N.
std::pair<torch::Tensor, torch::Tensor> attend_targets(const EdgesPtr& edges, std::span<const int32_t> targets,
                                                       const torch::Tensor& x, const torch::Tensor& weight,
                                                       const torch::Tensor& source, const torch::Tensor& target,
                                                       const torch::Tensor& positions, const torch::Tensor& bias,
                                                       double slope, const kernels::Dropout& edge_dropout,
                                                       Threads threads, const EdgeWeightsPtr& edge_weights = nullptr);

// Whether that pays: the products it saves against the rows it reads more often.
bool attend_targets_pays(const EdgeIndex& edges, std::span<const int32_t> targets, int64_t in, int64_t out,
                         int64_t heads);

}  // namespace graphpae::ops
