// Gated graph convolution over the edges of a batch of small graphs, forward and backward, each in one pass.
//
//   hat_ij  = b1_i + b2_j + c_ij
//   p'_ij   = hat_ij + p_ij
//   gate_ij = sigmoid(p'_ij)
//   h'_i    = s_i (a1_i + sum_j gate_ij a2_j / (sum_j gate_ij + 1e-6))
//
// a1, a2, b1, b2 are terms of nodes, c of edges, p positions, all D wide; j -> i are the edges of EdgeIndex. Rows that
// several nodes or edges share are given once, with a map that says which row is whose. Everything is float32 and
// row-major. A block is a range of nodes that no edge leaves: one thread does all of it, so nothing depends on the
// number of threads.
#pragma once

#include <cstdint>
#include <span>

#include "graphpae/core/edge_index.h"
#include "graphpae/core/threads.h"
#include "graphpae/kernels/dropout.h"

namespace graphpae::kernels {

struct GatedGraph {
  const EdgeIndex& edges;
  std::span<const int64_t> blocks;  // [G+1] nodes blocks[g] .. blocks[g+1] are block g
  const float* scale;               // [N] s
  int64_t width;                    // D
};

// Rows `stride` apart; the row of x is x itself, or map[x].
struct SharedRows {
  const float* data = nullptr;
  int64_t stride = 0;
  const int32_t* map = nullptr;

  const float* row(int64_t x) const { return data + (map == nullptr ? x : map[x]) * stride; }
};

struct GatedTerms {
  SharedRows nodes;      // of nodes: a1, a2, b1, b2 side by side, 4D wide
  SharedRows edges;      // of edges: c
  SharedRows positions;  // of edges: p; data is null without positions
};

// Writes h' [N,D] and the gates [E,D], which the backward pass needs; hat [E,D] and p' [E,D] after dropout, each unless
// null.
void gated_conv(const GatedGraph& graph, const GatedTerms& terms, const Dropout& dropout, float* gates, float* nodes,
                float* hat, float* refined, Threads threads);

// What came in and went out of gated_conv, as far as the backward pass reads it.
struct GatedSaved {
  SharedRows a2;                 // of nodes
  const float* gates = nullptr;  // [E,D]
  const int32_t* position_map = nullptr;
};

// Gradients of a1, a2, b1, b2 [N,4D] and c [E,D], one row per node and edge, and of p in its own rows unless null: they
// are set, or added to what is there if edges share rows of p, which must then be of one block. Gradients of h', hat
// and p' come in, each null if there is none. Without one of h', a1 and a2 get none: their columns are not written.
void gated_conv_backward(const GatedGraph& graph, const GatedSaved& saved, const Dropout& dropout, const float* d_nodes,
                         const float* d_hat, const float* d_refined, float* d_node_terms, float* d_edge_terms,
                         float* d_positions, Threads threads);

// sums[map[x],:] = sum over x of rows[x,:] for maps into 0 .. count-1: rows [R,D], sums [count,D].
void sum_shared_rows(const float* rows, const int32_t* map, int64_t row_count, int64_t width, float* sums,
                     int64_t count, Threads threads);

}  // namespace graphpae::kernels
