// Attention of a few targets over rows of a table, forward only: what embedding a large graph block by block needs.
// Arrays are row-major float32. Any number of threads gives the same bits.
#pragma once

#include <cstdint>
#include <span>

#include "graphpae/core/threads.h"

namespace graphpae::kernels {

// Edges into B targets: sources[offsets[i]] .. sources[offsets[i+1]] of target i.
struct BlockEdges {
  std::span<const int64_t> offsets;  // [B+1]
  std::span<const int32_t> sources;  // [S] rows of the table
};

// H heads of C columns, D = H C.
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
};
void gather_attention(const BlockEdges& edges, const GatherAttention& attention, float* out, Threads threads);

}  // namespace graphpae::kernels
