// Exact representations of all nodes of a graph of any size, layer after layer in bounded memory.
//
// A layer sums z = x W over neighbours, so z of all nodes is in memory while it works: of all heads, or of as many at a
// time as fit. What the layer makes waits in memory or in a temporary file to be the next layer's x, block by block.
// The refined positions of edge j -> i are P_ij + S_j + T_i with running sums S, T [N,H] of the nodes' logits, so
// nothing is kept per edge.
#pragma once

#include <cstdint>
#include <functional>

#include "graphpae/model/inputs.h"
#include "graphpae/model/model.h"

namespace graphpae {

// Receives rows [first, first + count) of the result, in ascending order, each once: [count, d_h].
using RowSink = std::function<void(int64_t first, int64_t count, const float* rows)>;
using RowProgress = std::function<void(int64_t done, int64_t total)>;  // in rows of blocks over all layers

// Whether the settings of the model allow it: attention as released, no MLP before the first layer.
bool can_embed_layerwise(const Model& model);

// Bytes that so many heads at a time need.
int64_t layerwise_bytes(int64_t nodes, const Settings& settings, int64_t heads_at_once);

// `memory`: bytes that may be used beyond the graph, its features and positions. Throws a memory error if not even one
// head fits.
void embed_layerwise(Model& model, const PreparedGraph& graph, int64_t memory, const RowSink& sink,
                     const RowProgress& progress = {});

}  // namespace graphpae
