// Euclidean distances between rows of a table, for the edges of a graph. Nothing here starts threads.
#pragma once

#include <cstdint>

namespace graphpae::kernels {

// distances[e] = ||table[sources[e]] - table[targets[e]]|| for e in [first, last). `table` is [N,k], row-major; the sum
// runs in float64. No alignment is required.
void edge_distances(const double* table, int64_t k, const int32_t* sources, const int32_t* targets, int64_t first,
                    int64_t last, float* distances);

// The same with table[i] + noise[noise_row[i]] for rows i with noise_row[i] > 0; `noise` is [M+1,k] and its row 0 is
// zero. Edges between rows without noise keep the distance they have in `clean` ([E], may be `distances`).
void edge_distances_with_noise(const double* table, int64_t k, const int32_t* sources, const int32_t* targets,
                               const int32_t* noise_row, const double* noise, const float* clean, int64_t first,
                               int64_t last, float* distances);

}  // namespace graphpae::kernels
