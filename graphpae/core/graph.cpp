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
  check_features();
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
  const bool weighted = !parts_.weights.empty();
  if (weighted || parts_.directed)
    directed_edges_ = DirectedEdges(parts_.edges, parts_.weights, nodes, options.self_loops == SelfLoops::keep);
  EdgeWeights().swap(parts_.weights);
  adjacency_ = Adjacency::from_edges(std::move(parts_.edges), nodes, options, threads);
  if (weighted) adjacency_.set_weights(undirected_weights(adjacency_, directed_edges_, parts_.directed));
  if (!parts_.directed) directed_edges_ = {};
}

void Graph::check_features() const {
  check_count("feature rows", features().rows(), parts_.num_nodes);
  if (!feature_names().empty() && static_cast<int64_t>(feature_names().size()) != features().columns())
    throw data_error(
        fmt::format("{} names were found for {} columns of features", feature_names().size(), features().columns()));
}

Graph Graph::with_features(Features features, std::vector<std::string> names,
                           std::shared_ptr<const FeaturePlan> plan) && {
  feature_plan_ = std::move(plan);
  parts_.features = std::move(features);
  parts_.feature_names = std::move(names);
  check_features();
  return std::move(*this);
}

Graph Graph::with_splits(std::vector<Split> splits) && {
  check_splits(splits, parts_.num_nodes);
  parts_.splits = std::move(splits);
  return std::move(*this);
}

std::string Graph::node_name(int64_t node) const {
  return node_names().empty() ? std::to_string(node) : std::string(node_names()[node]);
}

}  // namespace graphpae
