#include "graphpae/methods/graph_pae/losses.h"

#include <torch/torch.h>

namespace graphpae {

torch::Tensor distance_loss(const MessageGraph& graph, const torch::Tensor& predicted, const torch::Tensor& distances,
                            const torch::Tensor& masked) {
  const std::span<const int32_t> forward = graph.index->pair_forward();
  const torch::Tensor edges = torch::from_blob(const_cast<int32_t*>(forward.data()), {predicted.size(0)}, torch::kInt32)
                                  .to(torch::kInt64);  // one of each pair
  const torch::Tensor is_masked = torch::zeros({graph.num_nodes()}, predicted.options()).index_fill_(0, masked, 1);
  const auto masked_at = [&](const torch::Tensor& ends) {
    return is_masked.index_select(0, ends.index_select(0, edges));
  };
  const torch::Tensor weights = masked_at(graph.sources) + masked_at(graph.targets);
  if (edges.size(0) == 0 || weights.sum().item<double>() == 0) return predicted.sum() * 0;
  const torch::Tensor errors =
      torch::smooth_l1_loss(predicted, distances.index_select(0, edges), torch::Reduction::None);
  return (errors * weights).sum() / weights.sum();
}

}  // namespace graphpae
