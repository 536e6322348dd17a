#include "graphpae/core/graph_set.h"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "graphpae/core/error.h"

namespace graphpae {
namespace {

void check_offsets(const char* what, const std::vector<int64_t>& offsets, int64_t num_graphs, int64_t total) {
  if (static_cast<int64_t>(offsets.size()) != num_graphs + 1 || offsets.front() != 0 || offsets.back() != total) {
    throw data_error(
        fmt::format("{} offsets do not describe {} graphs with {} {}s in all", what, num_graphs, total, what));
  }
  for (int64_t g = 0; g < num_graphs; ++g) {
    if (offsets[g + 1] < offsets[g]) throw data_error(fmt::format("graph {}: a negative number of {}s", g, what));
  }
}

void check_codes(const char* what, const Codes& codes, int64_t rows) {
  if (codes.columns * rows != static_cast<int64_t>(codes.values.size())) {
    throw data_error(
        fmt::format("{} {} codes do not fill {} rows of {}", codes.values.size(), what, rows, codes.columns));
  }
}

}  // namespace

GraphSet::GraphSet(GraphSetParts parts) : parts_(std::move(parts)) {
  const int64_t count = parts_.num_graphs;
  if (count <= 0) throw data_error("the set has no graphs");
  if (!parts_.texts.empty() && parts_.texts.size() != count) {
    throw data_error(fmt::format("{} molecule texts were found for {} graphs", parts_.texts.size(), count));
  }
  if (static_cast<int64_t>(parts_.targets.size()) != count * num_tasks()) {
    throw data_error(
        fmt::format("{} target values do not fill {} graphs x {} tasks", parts_.targets.size(), count, num_tasks()));
  }
  for (size_t i = 0; i < parts_.targets.size(); ++i) {
    if (std::isinf(parts_.targets[i])) {
      throw data_error(fmt::format("graph {}, task {}: the target is infinite", i / num_tasks(), i % num_tasks()));
    }
  }
  check_splits(parts_.splits, count);
  if (!has_structure()) return;

  check_offsets("edge", parts_.edge_offsets, count, static_cast<int64_t>(parts_.edges.size()));
  check_offsets("node", parts_.node_offsets, count, parts_.node_offsets.back());
  check_codes("node", parts_.node_codes, num_nodes());
  check_codes("edge", parts_.edge_codes, num_edges());
  for (int64_t g = 0; g < count; ++g) {
    const int64_t nodes = parts_.node_offsets[g + 1] - parts_.node_offsets[g];
    for (int64_t e = parts_.edge_offsets[g]; e < parts_.edge_offsets[g + 1]; ++e) {
      const auto [a, b] = parts_.edges[e];
      if (a < 0 || b < 0 || a >= nodes || b >= nodes) {
        throw data_error(fmt::format("graph {}: edge {}-{} is outside its {} nodes", g, a, b, nodes));
      }
    }
  }
}

int64_t count_fragments(const GraphSet& set, int64_t graph) {
  const GraphSetParts& parts = set.parts();
  int64_t fragments = parts.node_offsets[graph + 1] - parts.node_offsets[graph];
  std::vector<int32_t> parent(fragments);
  std::iota(parent.begin(), parent.end(), 0);
  const auto find = [&](int32_t node) {
    while (parent[node] != node) node = parent[node] = parent[parent[node]];
    return node;
  };
  for (int64_t e = parts.edge_offsets[graph]; e < parts.edge_offsets[graph + 1]; ++e) {
    const int32_t a = find(parts.edges[e].src), b = find(parts.edges[e].dst);
    if (a == b) continue;
    parent[a] = b;
    --fragments;
  }
  return fragments;
}

}  // namespace graphpae
