// Blocks of a graph.
//
//   features    the features as they are; sparse rows stay sparse
//   neighbours  means over the neighbours at 1 to `hops` steps, without the node itself: at two steps, over all pairs
//   of
//               steps that do not lead back; further on, over the neighbours' rows of one step less. Features that are
//               too wide are reduced first, which commutes with means.
//   adjacency   rows of the adjacency matrix, scaled to length one; of a directed graph the edges that leave a node
//               beside those that arrive
//   degree      log(1 + degree); of a directed graph out and in; of a weighted one log(1 + sum of sizes) beside it
//   positions   the first Laplacian eigenvectors, whitened: columns of mean 0 and deviation 1
//
// Edge weights count by their size in means; rows of the adjacency matrix keep their sign.
#pragma once

#include <string>
#include <vector>

#include "graphpae/blocks/block.h"
#include "graphpae/core/graph.h"

namespace graphpae {

// The names of the blocks this graph has: all but features and neighbours where there are no features.
std::vector<std::string> graph_block_names(const Graph& graph);

// `features` may refer to the graph, which must outlive the block. Throws a usage error for a name that is not one of
// the graph's blocks, and what laplacian_positions throws.
Block graph_block(const Graph& graph, const std::string& name, const BlockOptions& options = {});

}  // namespace graphpae
