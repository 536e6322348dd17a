// Features smoothed over the graph: personalised PageRank of each column, with the node itself. Good where neighbours
// are alike, and then better than means over them.
#pragma once

#include "graphpae/blocks/block.h"
#include "graphpae/core/graph.h"

namespace graphpae {

// Z = (1 - a) S Z + a X after `steps` rounds from Z = X; S is the adjacency matrix with self loops, symmetrically
// normalised, X the features with rows of length one, a = 0.1. Features that are too wide are reduced first. [N,F] or
// [N,rank]; a block "smoothed". The graph must have features. Edge weights are not used.
Block smoothed_features(const Graph& graph, const BlockOptions& options = {}, int64_t steps = 12);

}  // namespace graphpae
