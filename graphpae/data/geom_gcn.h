// Geom-GCN text directories: out1_graph_edges.txt, out1_node_feature_label.txt, and split files
// *_split_0.6_0.2_<i>.npz with masks, beside them or in splits/.
#pragma once

#include <string>

#include "graphpae/core/graph.h"

namespace graphpae {

bool is_geom_gcn(const std::string& directory);
GraphParts read_geom_gcn(const std::string& directory, Threads threads);

}  // namespace graphpae
