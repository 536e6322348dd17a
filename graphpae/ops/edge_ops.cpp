#include "graphpae/ops/edge_ops.h"

#include <torch/torch.h>

#include <limits>

namespace graphpae::ops {

torch::Tensor segment_softmax(const torch::Tensor& values, const torch::Tensor& targets, int64_t num_nodes) {
  const torch::Tensor index = targets.unsqueeze(1).expand(values.sizes());
  // The maximum only guards against overflow: the result, and so its gradient, does not depend on it.
  const torch::Tensor largest =
      torch::full({num_nodes, values.size(1)}, -std::numeric_limits<double>::infinity(), values.options().requires_grad(false))
          .scatter_reduce(0, index, values.detach(), "amax");
  const torch::Tensor weights = torch::exp(values - largest.index_select(0, targets));
  const torch::Tensor sums = torch::zeros({num_nodes, values.size(1)}, weights.options()).index_add(0, targets, weights);
  return weights / sums.index_select(0, targets);
}

}  // namespace graphpae::ops
