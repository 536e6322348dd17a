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
    : features_(std::move(parts.features)),
      labels_(std::move(parts.labels)),
      class_names_(std::move(parts.class_names)),
      splits_(std::move(parts.splits)),
      node_names_(std::move(parts.node_names)),
      num_edge_rows_(count_edges(parts.edges)) {
  if (parts.num_nodes <= 0) throw data_error("the graph has no nodes");
  check_count("feature rows", features_.rows(), parts.num_nodes);
  check_count("labels", static_cast<int64_t>(labels_.size()), parts.num_nodes);
  check_count("node names", node_names_.size(), parts.num_nodes);
  for (size_t node = 0; node < labels_.size(); ++node) {
    if (labels_[node] < kUnlabelled)
      throw data_error(fmt::format("node {}: label {} is below -1", node, labels_[node]));
    num_classes_ = std::max<int64_t>(num_classes_, labels_[node] + 1);
  }
  if (!class_names_.empty()) {
    if (num_classes_ > static_cast<int64_t>(class_names_.size())) {
      throw data_error(
          fmt::format("label {} has no name: {} class names were found", num_classes_ - 1, class_names_.size()));
    }
    num_classes_ = static_cast<int64_t>(class_names_.size());
  }
  check_splits(splits_, parts.num_nodes);
  adjacency_ = Adjacency::from_edges(std::move(parts.edges), parts.num_nodes, options, threads);
}

std::string Graph::node_name(int64_t node) const {
  return node_names_.empty() ? std::to_string(node) : std::string(node_names_[node]);
}

}  // namespace graphpae
