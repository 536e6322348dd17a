// Fused first layer of the node encoder and fused feature loss, with gradients. All tensors are float32 and contiguous;
// features are read as they are stored, sparse or dense.
#pragma once

#include <torch/types.h>

#include <memory>
#include <vector>

#include "graphpae/core/features.h"
#include "graphpae/core/threads.h"
#include "graphpae/kernels/cosine_error.h"
#include "graphpae/kernels/sparse_product.h"

namespace graphpae::ops {

// X~ W for X~ [N,F] whose row i is dropout(features[shown[i]]), or dropout(token) where shown[i] = -1. token [F],
// weight [F,D] -> [N,D].   torch::mm(dropout(X~), weight)
torch::Tensor corrupted_product(const Features& features, const std::vector<int32_t>& shown, const torch::Tensor& token,
                                const torch::Tensor& weight, const kernels::Dropout& dropout, Threads threads);

enum class FeatureErrorKind { scaled_cosine, squared };

// The error of predictions h weight^T + bias [M,F] of the feature rows at `nodes` [M]. h [M,D], weight [F,D], bias [F]
// -> scalar. Gradients come with the forward pass.   scaled_cosine_error(...), mean_squared_error(...)
torch::Tensor feature_error(const torch::Tensor& h, const torch::Tensor& weight, const torch::Tensor& bias,
                            const Features& features, const std::vector<int32_t>& nodes, FeatureErrorKind kind,
                            double gamma, kernels::ErrorWorkspace& workspace, Threads threads);

}  // namespace graphpae::ops
