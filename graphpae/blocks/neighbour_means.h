// The block `neighbours` (graph_blocks.h).
#pragma once

#include "graphpae/blocks/block.h"
#include "graphpae/core/graph.h"

namespace graphpae {

// [N, hops * F], or [N, hops * rank] of features that are too wide; rows of nodes without neighbours are zero.
Block neighbour_block(const Graph& graph, const BlockOptions& options);

}  // namespace graphpae
