#include "graphpae/model/relative_weights.h"

#include <algorithm>

#include "graphpae/positions/laplacian_graph.h"

namespace graphpae {

RelativeWeights::RelativeWeights(const Adjacency& adjacency) : adjacency_(adjacency), means_(row_strengths(adjacency)) {
  for (int64_t node = 0; node < adjacency.num_nodes(); ++node)
    means_[static_cast<size_t>(node)] /= static_cast<double>(std::max<int64_t>(adjacency.degree(node), 1));
}

float RelativeWeights::operator()(int32_t source, int32_t target) const {
  if (source == target) return 1;
  const auto row = adjacency_.row(target);
  const auto place = std::lower_bound(row.begin(), row.end(), source) - row.begin();
  return static_cast<float>(adjacency_.row_weights(target)[static_cast<size_t>(place)] /
                            means_[static_cast<size_t>(target)]);
}

std::vector<float> RelativeWeights::of_edges(const EdgeIndex& edges, const std::vector<int32_t>& nodes) const {
  const auto node = [&](int32_t i) { return nodes.empty() ? i : nodes[static_cast<size_t>(i)]; };
  std::vector<float> weights(static_cast<size_t>(edges.num_edges()));
  for (size_t e = 0; e < weights.size(); ++e) weights[e] = (*this)(node(edges.sources()[e]), node(edges.targets()[e]));
  return weights;
}

}  // namespace graphpae
