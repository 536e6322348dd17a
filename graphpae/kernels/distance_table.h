// The distance embedding (distance_embedding.h) of many distances through a table: it is a function of one number.
//
//   out[i,:] = sum_r w_r(t_i) f(x[c_i + r]),  r < 8,  f the exact embedding, x the points of a grid
//
// The backward pass is the transpose of the interpolation, then the exact backward pass of the points: the exact
// gradient of what the forward pass computes. Sums are over a fixed number of parts of the distances, added in order:
// results do not depend on the number of threads.
//
// A grid belongs to M distances and to the parameters it was made for. The numbers from 0 upwards are divided into bins
// (of equal width up to about the largest mean, then of widths that grow with the distance); a bin that holds distances
// has 2^n equal cells, as many as its Gaussians and the bend of the GELU ask for, and three points more at its lower
// and four at its upper end, so that eight equally spaced points surround every cell (Lagrange polynomials of degree
// seven). A bin with fewer distances than points, and the distance 0, are not interpolated: their distances are points
// themselves. So a narrow Gaussian costs exact evaluations of the distances near it and nothing else, and few distances
// are all exact.
#pragma once

#include <cstdint>
#include <vector>

#include "graphpae/core/buffer.h"
#include "graphpae/core/threads.h"
#include "graphpae/kernels/distance_embedding.h"

namespace graphpae::kernels {

struct DistanceGrid {
  static constexpr int64_t kNodes = 8;  // points around a cell

  struct Bin {
    float start, width, scale;  // scale: cells / width
    int32_t cells;              // 0: not interpolated
    int32_t first;              // its first point, three cells below `start`
  };
  // Where a distance is: between points[at + 3] and points[at + 4], at a part `t` of the way; or points[~at].
  struct Place {
    int32_t at;
    float t;
  };

  float offset;                // bins are equal parts of the octaves of distance + offset,
  int bits;                    // 2^bits of each: more where there are more distances
  int64_t tabulated;           // points in bins; the others are distances themselves
  std::vector<Bin> bins;       // [B]
  std::vector<float> points;   // [P]; the first is 0
  Buffer<Place> places;        // [M]
  std::vector<int64_t> count;  // [B] distances other than 0
};

// The error of the interpolation that a grid is made for, of the magnitude of `out`.
inline constexpr double kTableTolerance = 3e-7;

// The grid of distances [M]. The parameters should be those of the passes that use it. M is below 2^31.
DistanceGrid make_distance_grid(const DistanceEmbedding& embedding, const float* distances, int64_t count,
                                Threads threads, double tolerance = kTableTolerance);

// out [M,H] for the distances of the grid.
void table_forward(const DistanceEmbedding& embedding, const DistanceGrid& grid, float* out, Threads threads);

// The gradients of the parameters for d_out [M,H]. There is none of the distances.
void table_backward(const DistanceEmbedding& embedding, const DistanceGrid& grid, const float* d_out,
                    const DistanceEmbeddingGradients& gradients, Threads threads);

}  // namespace graphpae::kernels
