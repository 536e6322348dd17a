// The distance embedding (distance_embedding.h) of many distances through a table: it is a function of one number.
//
//   out[i,:] = sum_r w_r(t_i) f(x[c_i + r]),  r < 8,  f the exact embedding, x the points of a grid
//
// The backward pass is the transpose of the interpolation, then the exact backward pass of the points: the exact
// gradient of what the forward pass computes. Sums are over a fixed number of parts of the distances, added in order:
// results do not depend on the number of threads.
#pragma once

#include "graphpae/core/threads.h"
#include "graphpae/kernels/distance_embedding.h"
#include "graphpae/kernels/distance_grid.h"

namespace graphpae::kernels {

// out [M,H] for the distances of the grid.
void table_forward(const DistanceEmbedding& embedding, const DistanceGrid& grid, float* out, Threads threads);

// The gradients of the parameters for d_out [M,H]. There is none of the distances.
void table_backward(const DistanceEmbedding& embedding, const DistanceGrid& grid, const float* d_out,
                    const DistanceEmbeddingGradients& gradients, Threads threads);

}  // namespace graphpae::kernels
