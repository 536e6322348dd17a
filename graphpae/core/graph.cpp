#include "graphpae/core/graph.h"

#include <fmt/format.h>

#include <algorithm>

#include "graphpae/core/error.h"

namespace graphpae {
namespace {

void check_count(const char* what, int64_t found, int64_t num_nodes) {
  if (found != 0 && found != num_nodes) {
    throw data_error(fmt::format("{} {} were found for {} nodes", found, what, num_nodes));
  }
}

}  // namespace

Graph::Graph(GraphParts parts, const EdgeOptions& options, Threads threads)
    : parts_(std::move(parts)), num_edge_rows_(count_edges(parts_.edges)) {
  const int64_t nodes = parts_.num_nodes;
  if (nodes <= 0) throw data_error("the graph has no nodes");
  check_count("feature rows", features().rows(), nodes);
  check_count("labels", static_cast<int64_t>(labels().size()), nodes);
  check_count("node names", node_names().size(), nodes);
  for (size_t node = 0; node < labels().size(); ++node) {
    if (labels()[node] < kUnlabelled)
      throw data_error(fmt::format("node {}: label {} is below -1", node, labels()[node]));
    num_classes_ = std::max<int64_t>(num_classes_, labels()[node] + 1);
  }
  if (!class_names().empty()) {
    if (num_classes_ > static_cast<int64_t>(class_names().size())) {
      throw data_error(
          fmt::format("label {} has no name: {} class names were found", num_classes_ - 1, class_names().size()));
    }
    num_classes_ = static_cast<int64_t>(class_names().size());
  }
  check_splits(splits(), nodes);
  adjacency_ = Adjacency::from_edges(std::move(parts_.edges), nodes, options, threads);
}

std::string Graph::node_name(int64_t node) const {
  return node_names().empty() ? std::to_string(node) : std::string(node_names()[node]);
}

}  // namespace graphpae
