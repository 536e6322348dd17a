#include "graphpae/methods/reconstruction.h"

#include <torch/torch.h>

namespace graphpae {

torch::Tensor scaled_cosine_error(const torch::Tensor& predicted, const torch::Tensor& target, double gamma) {
  const auto unit = [](const torch::Tensor& x) { return x / x.norm(2, 1, true).clamp_min(1e-12); };
  return (1 - (unit(predicted) * unit(target)).sum(1)).pow(gamma).mean();
}

}  // namespace graphpae
