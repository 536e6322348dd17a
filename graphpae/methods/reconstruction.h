// The error of reconstructed features that methods share.
#pragma once

#include <torch/types.h>

namespace graphpae {

// Scaled cosine error, Eq. (12): mean over rows of (1 - cos(target, predicted))^gamma. [M,F], [M,F] -> scalar.
// A row of zeros has cosine 0 with everything.
torch::Tensor scaled_cosine_error(const torch::Tensor& predicted, const torch::Tensor& target, double gamma);

}  // namespace graphpae
