// Loops over rows of panels: a panel is a row-major [N, 16] block of columns, one cache line per row in
// float32, two in float64. Nothing here allocates, starts threads or checks its arguments.
//
// Panels must be aligned to 64 bytes. T is float or double.
#pragma once

#include <cstdint>

namespace graphpae::kernels {

inline constexpr int64_t kPanelColumns = 16;

// gram[16,16] += left^T right over `rows` rows. Sums run in T over short runs of rows and in float64
// across the runs.
void panel_gram(const float* left, const float* right, int64_t rows, double* gram);
void panel_gram(const double* left, const double* right, int64_t rows, double* gram);

// out[rows,16] += left[rows,16] factor[16,16].
void panel_add_product(const float* left, const float* factor, int64_t rows, float* out);
void panel_add_product(const double* left, const double* factor, int64_t rows, double* out);

// One step of a three-term recurrence with the random walk P = D^-1 A of a graph in CSR form:
//   out_i = walk * (1/d_i) sum_{j ~ i} current_j + self * current_i + past * previous_i
// for rows first <= i < last, afterwards multiplied by sqrt(d_i) if `scale_by_root_degree`. `previous` is
// not read if past == 0; `out` may be `previous`. Every row needs at least one neighbour.
template <class T>
struct WalkStep {
  const int64_t* offsets;     // [N+1]
  const int32_t* neighbours;  // [num_neighbours]
  int64_t num_neighbours;
  const T* current;   // [N,16]
  const T* previous;  // [N,16]
  T* out;             // [N,16]
  T walk;
  T self;
  T past;
  bool scale_by_root_degree;
};
void walk_rows(const WalkStep<float>& step, int64_t first, int64_t last);
void walk_rows(const WalkStep<double>& step, int64_t first, int64_t last);

}  // namespace graphpae::kernels
