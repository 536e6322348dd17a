// Weighted sums of node rows over the edges into each node, per head, and their gradients.
//
// Arrays are row-major float32; edges are in the order of EdgeIndex. N nodes, E edges, H heads of C columns each,
// D = H * C. Every sum is made by one thread in one order, so results do not depend on the number of threads.
//
// The work is bound by the gathers of neighbour rows, so the columns are cut into blocks of two cache lines, and each
// block is first copied into an array of its own, [N, W], that fits in a cache. (Gathering a block from rows of 4096
// bytes instead would use a few sets of the cache only.)
#pragma once

#include <cstdint>
#include <optional>

#include "graphpae/core/edge_index.h"
#include "graphpae/core/threads.h"
#include "graphpae/kernels/dropout.h"
#include "graphpae/kernels/scratch.h"

namespace graphpae::kernels {

// What calls of aggregate_* need beside their arguments. Give the same one to many calls, and nothing is allocated
// after the first; one call at a time may use it.
struct Workspace {
  Scratch<float> groups;         // packed groups of columns, for each thread
  Scratch<float> weights;        // [H,E] weights, head by head
  Scratch<float> d_weights;      // [H,E] their gradients, by source
  Scratch<int32_t> out_targets;  // [E] targets, by source
};

// How the columns of a head are cut into blocks, and how many of those go into a group, which is packed at once.
struct AggregateBlocks {
  int64_t width = 32;  // columns of a block: 16 or 32
  int64_t group = 64;  // columns of a group, a multiple of `width`
  bool packed = true;  // false: gather from the rows themselves where a group is whole; slower, but without the memory
};
AggregateBlocks choose_blocks(int64_t nodes, int64_t columns);

// weights[e,h] = alpha[e,h] / (1 - p) where the dropout keeps element (e,h), else 0. Both [E,H]; they may be the same
// array. The gradient is the same function: d_alpha from d_weights.
void drop_edge_weights(const Dropout& dropout, int64_t num_edges, int64_t heads, const float* alpha, float* weights,
                       Threads threads);

// out[i, h*C + c] = bias[h*C + c] + sum over edges e: j -> i of weights[e,h] * x[j, h*C + c].
// weights [E,H]; x, out [N,D]; bias [D] or null. Without a wish, blocks are those of choose_blocks.
void aggregate_forward(const EdgeIndex& edges, int64_t heads, int64_t columns, const float* weights, const float* x,
                       const float* bias, float* out, Workspace& workspace, Threads threads,
                       std::optional<AggregateBlocks> wish = {});

// The gradients for d_out [N,D]: d_x [N,D], and d_weights [E,H] = <d_out[i, head h], x[j, head h]>. Both are written.
void aggregate_backward(const EdgeIndex& edges, int64_t heads, int64_t columns, const float* weights, const float* x,
                        const float* d_out, float* d_x, float* d_weights, Workspace& workspace, Threads threads,
                        std::optional<AggregateBlocks> wish = {});

}  // namespace graphpae::kernels
