#include "graphpae/positions/component_split.h"

#include <algorithm>
#include <numeric>

namespace graphpae {

ComponentSplit::ComponentSplit(const LaplacianGraph& graph) {
  const int64_t n = graph.num_nodes();
  Components components = connected_components(graph);
  std::vector<int64_t>& sizes = components.sizes;
  for (int64_t i = 0; i < n; ++i) {
    if (graph.degree(i) > 0) continue;
    sizes[components.of_node[i]] = 0;  // puts isolated nodes last
    ++isolated_;
  }
  // Numbers already follow the smallest nodes: a stable sort by size is all the order needs.
  std::vector<int32_t> order(sizes.size()), rank(sizes.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int32_t a, int32_t b) { return sizes[a] > sizes[b]; });
  starts_.assign(sizes.size() + 1, 0);
  for (size_t i = 0; i < order.size(); ++i) {
    rank[order[i]] = static_cast<int32_t>(i);
    starts_[i + 1] = starts_[i] + std::max<int64_t>(1, sizes[order[i]]);
  }
  std::vector<int64_t> next(starts_.begin(), starts_.end() - 1);
  nodes_.resize(n);
  local_.resize(n);
  for (int64_t i = 0; i < n; ++i) {
    const int32_t r = rank[components.of_node[i]];
    local_[i] = static_cast<int32_t>(next[r] - starts_[r]);
    nodes_[next[r]++] = static_cast<int32_t>(i);
  }
}

Subgraph ComponentSplit::subgraph(const LaplacianGraph& graph, int64_t index) const {
  Subgraph result;
  const auto members = nodes(index);
  result.offsets.reserve(members.size() + 1);
  result.offsets.push_back(0);
  int64_t total = 0;
  for (const int32_t node : members) result.offsets.push_back(total += graph.degree(node));
  result.neighbours.reserve(total);
  for (const int32_t node : members) {
    for (const int32_t v : graph.row(node)) result.neighbours.push_back(local_[v]);
    if (!graph.has_weights()) continue;
    result.strengths.push_back(graph.strength(node));
    const auto weights = graph.weights.subspan(graph.offsets[node], graph.degree(node));
    result.weights.insert(result.weights.end(), weights.begin(), weights.end());
  }
  return result;
}

}  // namespace graphpae
