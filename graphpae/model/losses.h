// Reconstruction losses, Section 4.3.
#pragma once

#include <torch/types.h>

#include "graphpae/model/graph_input.h"

namespace graphpae {

// Scaled cosine error, Eq. (12): mean over rows of (1 - cos(target, predicted))^gamma. [M,F], [M,F] -> scalar.
// A row of zeros has cosine 0 with everything.
torch::Tensor scaled_cosine_error(const torch::Tensor& predicted, const torch::Tensor& target, double gamma);

// Mean of squared differences over all elements.
torch::Tensor mean_squared_error(const torch::Tensor& predicted, const torch::Tensor& target);

// Eq. (14): mean Huber loss (delta 1) over the edges whose source is masked, self loops left out; 0 if there are none.
// predicted [pairs], distances [E], masked [M] int64 -> scalar
torch::Tensor distance_loss(const MessageGraph& graph, const torch::Tensor& predicted, const torch::Tensor& distances,
                            const torch::Tensor& masked);

}  // namespace graphpae
