#include "graphpae/core/directed_edges.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "graphpae/core/error.h"

namespace graphpae {
namespace {

struct WeightedTarget {
  int32_t target;
  float weight;
};

// Throws unless every edge has a finite weight and nodes in range.
void check_edges(const EdgeBlocks& edges, const EdgeWeights& weights, int64_t num_nodes) {
  if (!weights.empty() && weights.size() != edges.size())
    throw data_error(fmt::format("weights in {} blocks for edges in {}", weights.size(), edges.size()));
  int64_t number = 0;
  for (size_t block = 0; block < edges.size(); ++block) {
    if (!weights.empty() && weights[block].size() != edges[block].size())
      throw data_error(fmt::format("{} weights for {} edges", weights[block].size(), edges[block].size()));
    for (size_t i = 0; i < edges[block].size(); ++i, ++number) {
      for (const int32_t node : {edges[block][i].src, edges[block][i].dst}) {
        if (node < 0 || node >= num_nodes)
          throw data_error(fmt::format("edge {}: node {} is outside 0..{}", number, node, num_nodes - 1));
      }
      if (!weights.empty() && !std::isfinite(weights[block][i]))
        throw data_error(fmt::format("edge {}: the weight {} is not finite", number, weights[block][i]));
    }
  }
}

}  // namespace

DirectedEdges::DirectedEdges(const EdgeBlocks& edges, const EdgeWeights& weights, int64_t num_nodes,
                             bool keep_self_loops) {
  check_edges(edges, weights, num_nodes);
  const auto is_left_out = [&](const Edge& edge) { return edge.src == edge.dst && !keep_self_loops; };
  offsets_.assign(static_cast<size_t>(num_nodes) + 1, 0);
  for (const auto& block : edges) {
    for (const Edge& edge : block) offsets_[edge.src + 1] += is_left_out(edge) ? 0 : 1;
  }
  std::partial_sum(offsets_.begin(), offsets_.end(), offsets_.begin());
  Buffer<WeightedTarget> entries(static_cast<size_t>(offsets_.back()));
  std::vector<int64_t> next(offsets_.begin(), offsets_.end() - 1);
  for (size_t block = 0; block < edges.size(); ++block) {
    for (size_t i = 0; i < edges[block].size(); ++i) {
      const Edge edge = edges[block][i];
      if (is_left_out(edge)) continue;
      entries[next[edge.src]++] = {edge.dst, weights.empty() ? 1.0f : weights[block][i]};
    }
  }
  for (int64_t row = 0; row < num_nodes; ++row) {
    const auto begin = entries.begin() + offsets_[row], end = entries.begin() + offsets_[row + 1];
    std::stable_sort(begin, end, [](const WeightedTarget& a, const WeightedTarget& b) { return a.target < b.target; });
    offsets_[row] = static_cast<int64_t>(targets_.size());
    for (auto at = begin; at != end;) {
      const int32_t target = at->target;
      double sum = 0;
      for (; at != end && at->target == target; ++at) sum += at->weight;
      targets_.push_back(target);
      if (!weights.empty()) weights_.push_back(static_cast<float>(sum));
    }
  }
  offsets_[num_nodes] = static_cast<int64_t>(targets_.size());
}

int64_t DirectedEdges::find(int64_t source, int32_t target) const {
  const auto targets = row(source);
  const auto place = std::lower_bound(targets.begin(), targets.end(), target);
  if (place == targets.end() || *place != target) return -1;
  return offsets_[source] + (place - targets.begin());
}

int64_t DirectedEdges::num_reciprocal() const {
  int64_t count = 0;
  for (int64_t source = 0; source < num_nodes(); ++source) {
    for (const int32_t target : row(source))
      count += target != source && find(target, static_cast<int32_t>(source)) >= 0;
  }
  return count;
}

Buffer<float> undirected_weights(const Adjacency& adjacency, const DirectedEdges& edges, bool directed) {
  Buffer<float> weights(adjacency.neighbours().size());
  int64_t at = 0;
  for (int64_t u = 0; u < adjacency.num_nodes(); ++u) {
    for (const int32_t v : adjacency.row(u)) {
      const int64_t there = edges.find(u, v), back = u == v ? -1 : edges.find(v, static_cast<int32_t>(u));
      double sum = 0;
      if (there >= 0) sum += edges.weights()[there];
      if (back >= 0) sum += edges.weights()[back];
      const bool both = there >= 0 && back >= 0;
      weights[at++] = static_cast<float>(both && !directed ? sum / 2 : sum);
    }
  }
  return weights;
}

}  // namespace graphpae
