// The block `adjacency` (graph_blocks.h).
#pragma once

#include "graphpae/blocks/block.h"
#include "graphpae/core/graph.h"

namespace graphpae {

// [N,N], or [N,2N] of a directed graph: sparse. With more entries than half of options.wide_values: the leading
// directions of these rows, [N,R].
Block adjacency_block(const Graph& graph, const BlockOptions& options);

}  // namespace graphpae
