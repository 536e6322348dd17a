// Files of features, labels and splits that lie beside a graph.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/data/node_ids.h"
#include "graphpae/data/node_table.h"

namespace graphpae {

class NodeFiles {
 public:
  // Paths, or "". Reads those whose rows are the nodes in their order, which tell how many nodes there are.
  NodeFiles(std::string features, std::string labels, std::string splits, std::string id_column);

  // What the files say about the nodes before these are known.
  NodeEvidence evidence() const;

  // Adds them to the graph. A feature or label row that names another node than the edges do is a node without edges,
  // which `notes` says; files without any known node are a data error.
  void add_to(GraphParts& parts, std::vector<std::string>& notes, std::vector<ColumnUse>& columns);

 private:
  void introduce_nodes(GraphParts& parts, std::vector<std::string>& notes) const;
  std::vector<const NodeTableLayout*> keyed() const;

  std::string features_path_, labels_path_, splits_path_, id_column_;
  std::optional<NodeTableLayout> keyed_features_, keyed_labels_;  // whose rows name their nodes
  std::optional<FeatureTable> features_;
  std::optional<Labels> labels_;
};

}  // namespace graphpae
