// Graphs in one .npz file: a SciPy sparse adjacency matrix, or named arrays as several collections
// publish them: edges|edge_index, features|node_features|x, labels|node_labels|y|target, train_masks, ...;
// or adj_data, adj_indices, ... with attr_data, ... and labels.
#pragma once

#include <string>

#include "graphpae/core/graph.h"

namespace graphpae {

GraphParts read_npz_graph(const std::string& path);

}  // namespace graphpae
