// The position loss, Section 4.3; the feature loss is one of methods/reconstruction.h.
#pragma once

#include <torch/types.h>

#include "graphpae/model/graph_input.h"

namespace graphpae {

// Eq. (14): mean Huber loss (delta 1) over the edges whose source is masked, self loops left out; 0 if there are none.
// predicted [pairs], distances [E], masked [M] int64 -> scalar
torch::Tensor distance_loss(const MessageGraph& graph, const torch::Tensor& predicted, const torch::Tensor& distances,
                            const torch::Tensor& masked);

}  // namespace graphpae
