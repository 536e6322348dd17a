// Attention for some of the nodes only, with sums taken before the projection.
//
// A layer that is wanted at M of N nodes needs sum_j alpha_ij W x_j = W sum_j alpha_ij x_j there: the right-hand side
// multiplies M rows by W instead of N. The price is a sum per head over all columns of x. Arrays are row-major float32;
// N nodes, K columns of x, H heads, M targets, S edges into them. Any number of threads gives the same bits.
#pragma once

#include <cstdint>
#include <span>

#include "graphpae/core/buffer.h"
#include "graphpae/core/edge_index.h"
#include "graphpae/core/threads.h"
#include "graphpae/kernels/dropout.h"

namespace graphpae::kernels {

// The edges into chosen targets, row after row, and the same by source.
struct TargetEdges {
  int64_t num_nodes = 0;        // N
  Buffer<int32_t> targets;      // [M] nodes
  Buffer<int64_t> offsets;      // [M+1]
  Buffer<int32_t> sources;      // [S]
  Buffer<int32_t> edges;        // [S] which edge of the EdgeIndex it is
  Buffer<int64_t> out_offsets;  // [N+1]
  Buffer<int32_t> out_slots;    // [S] by source: place among the S edges
  Buffer<int32_t> out_rows;     // [S] by source: row of the target, 0 .. M-1

  int64_t num_targets() const { return static_cast<int64_t>(targets.size()); }
  int64_t num_edges() const { return static_cast<int64_t>(sources.size()); }
};
TargetEdges target_edges(const EdgeIndex& edges, std::span<const int32_t> targets);

// logits [S,H] = source_logits[j] + target_logits[i] + positions[edge] (positions [E,H] or null), and alpha [S,H],
// their softmax over each row after LeakyReLU; source_logits, target_logits [N,H].
void target_attention(const TargetEdges& edges, int64_t heads, float slope, const float* source_logits,
                      const float* target_logits, const float* positions, float* logits, float* alpha, Threads threads);

// Its gradients for d_alpha [S,H] and d_logits [S,H] (or null): d_positions [E,H] (or null), zero for other edges,
// d_source_logits and d_target_logits [N,H]; all are written. num_edges is that of the EdgeIndex.
void target_attention_backward(const TargetEdges& edges, int64_t heads, float slope, const float* logits,
                               const float* alpha, const float* d_alpha, const float* d_logits, int64_t num_edges,
                               float* d_positions, float* d_source_logits, float* d_target_logits, Threads threads);

// weights [S,H] = dropout(values), with the decisions for (edge of the EdgeIndex, head).
void drop_target_weights(const TargetEdges& edges, int64_t heads, const Dropout& dropout, const float* values,
                         float* weights, Threads threads);

// sums [M,H,K]: sums[m,h,:] = sum over edges s into m of weights[s,h] x[j,:]. x [N,K], weights [S,H].
void target_sums(const TargetEdges& edges, int64_t heads, int64_t columns, const float* weights, const float* x,
                 float* sums, Threads threads);

// Gradients for d_sums [M,H,K]: d_x [N,K] and d_weights [S,H]; both are written.
void target_sums_backward(const TargetEdges& edges, int64_t heads, int64_t columns, const float* weights,
                          const float* x, const float* d_sums, float* d_x, float* d_weights, Threads threads);

// Edges into B targets: sources[offsets[i]] .. sources[offsets[i+1]] of target i.
struct BlockEdges {
  std::span<const int64_t> offsets;  // [B+1]
  std::span<const int32_t> sources;  // [S] rows of the table
};

// Attention of B targets over rows of a table, forward only: what embedding a large graph block by block needs. H heads
// of C columns, D = H C.
//   logit_e = source_logits[source] + target_logits[i] + positions[e]      [H] each; positions may be null
//   out_i = bias + sum_e softmax(LeakyReLU(logit))_e z[source]
// z [N,D], source_logits [N,H], target_logits [B,H], positions [S,.] with rows `positions_stride` apart, bias [D],
// out [B,D].
struct GatherAttention {
  int64_t heads, head_columns;
  float slope;
  const float *z, *source_logits, *target_logits, *positions;
  int64_t positions_stride;
  const float* bias;
  const float* edge_weights = nullptr;  // [S] or null, as in kernels/reweigh.h
};
void gather_attention(const BlockEdges& edges, const GatherAttention& attention, float* out, Threads threads);

}  // namespace graphpae::kernels
