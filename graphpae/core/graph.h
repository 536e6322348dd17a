// Graph: one graph G = {V, E, X} with what is known about its nodes. Checked once, when it is made;
// immutable afterwards.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/directed_edges.h"
#include "graphpae/core/features.h"
#include "graphpae/core/split.h"
#include "graphpae/core/text_column.h"

namespace graphpae {

struct FeaturePlan;  // settings/feature_plan.h

inline constexpr int32_t kUnlabelled = -1;

// What a reader found. Only edges and num_nodes are needed.
struct GraphParts {
  int64_t num_nodes = 0;
  EdgeBlocks edges;
  EdgeWeights weights;                     // a number per edge, in the blocks of `edges`, or empty
  bool directed = false;                   // an edge leads from src to dst, and not back
  Features features;                       // N x F, or empty
  std::vector<std::string> feature_names;  // [F] names of columns, or empty
  std::vector<int32_t> labels;             // [N] class or kUnlabelled, or empty
  std::vector<std::string> class_names;    // [C], or empty
  std::vector<Split> splits;
  TextColumn node_names;  // [N] names used in the input, or empty when they were 0..N-1
};

class Graph {
 public:
  // Throws a data error if the parts do not fit together: no nodes, edges or split ids out of range,
  // features or labels that do not number N, overlapping splits, weights that are not finite or do not number the
  // edges.
  explicit Graph(GraphParts parts, const EdgeOptions& options = {}, Threads threads = {});

  int64_t num_nodes() const { return adjacency_.num_nodes(); }
  int64_t num_classes() const { return num_classes_; }
  int64_t num_edge_rows() const { return num_edge_rows_; }  // edges as given, before symmetrising

  // Undirected, whatever the edges were; with weights if they had any.
  const Adjacency& adjacency() const { return adjacency_; }
  bool is_directed() const { return parts_.directed; }
  const DirectedEdges& directed_edges() const { return directed_edges_; }  // as given; empty if not directed
  const Features& features() const { return parts_.features; }
  const std::vector<std::string>& feature_names() const { return parts_.feature_names; }  // [F] or empty
  const std::vector<int32_t>& labels() const { return parts_.labels; }                    // [N] or empty
  const std::vector<std::string>& class_names() const { return parts_.class_names; }
  const std::vector<Split>& splits() const { return parts_.splits; }
  const TextColumn& node_names() const { return parts_.node_names; }
  std::string node_name(int64_t node) const;

  // How its features were made of those of the data; null: they are those of the data.
  const std::shared_ptr<const FeaturePlan>& feature_plan() const { return feature_plan_; }

  // The same graph with other features [N,F'], the names of their columns, or none, and how they were made. Throws as
  // the constructor.
  Graph with_features(Features features, std::vector<std::string> names,
                      std::shared_ptr<const FeaturePlan> plan = nullptr) &&;
  Graph with_splits(std::vector<Split> splits) &&;

 private:
  void check_features() const;

  GraphParts parts_;  // without the edges
  Adjacency adjacency_;
  DirectedEdges directed_edges_;
  std::shared_ptr<const FeaturePlan> feature_plan_;
  int64_t num_classes_ = 0;
  int64_t num_edge_rows_ = 0;
};

}  // namespace graphpae
