#include "graphpae/model/losses.h"

#include <torch/torch.h>

namespace graphpae {

torch::Tensor scaled_cosine_error(const torch::Tensor& predicted, const torch::Tensor& target, double gamma) {
  const auto unit = [](const torch::Tensor& x) { return x / x.norm(2, 1, true).clamp_min(1e-12); };
  return (1 - (unit(predicted) * unit(target)).sum(1)).pow(gamma).mean();
}

torch::Tensor mean_squared_error(const torch::Tensor& predicted, const torch::Tensor& target) {
  return (predicted - target).square().mean();
}

torch::Tensor distance_loss(const MessageGraph& graph, const torch::Tensor& predicted, const torch::Tensor& distances,
                            const torch::Tensor& masked) {
  const torch::Tensor is_masked = torch::zeros({graph.num_nodes()}, torch::kBool).index_fill_(0, masked, true);
  const torch::Tensor counts = is_masked.index_select(0, graph.sources) & (graph.sources != graph.targets);
  const torch::Tensor edges = counts.nonzero().squeeze(1);
  if (edges.size(0) == 0) return predicted.sum() * 0;
  const std::span<const int32_t> pair_of_edge = graph.index->pair_of_edge();
  const torch::Tensor pairs =
      torch::from_blob(const_cast<int32_t*>(pair_of_edge.data()), {graph.num_edges()}, torch::kInt32)
          .index_select(0, edges)
          .to(torch::kInt64);
  return torch::smooth_l1_loss(predicted.index_select(0, pairs), distances.index_select(0, edges));
}

}  // namespace graphpae
