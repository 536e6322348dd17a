#include "graphpae/kernels/reweigh.h"

namespace graphpae::kernels {

void reweigh_target(int64_t edges, int64_t heads, const float* weights, float* alpha) {
  for (int64_t h = 0; h < heads; ++h) {
    float sum = 0;
    for (int64_t e = 0; e < edges; ++e) sum += alpha[e * heads + h] *= weights[e];
    if (!(sum > 0)) continue;
    const float scale = 1 / sum;
    for (int64_t e = 0; e < edges; ++e) alpha[e * heads + h] *= scale;
  }
}

void reweigh(std::span<const int64_t> offsets, int64_t heads, const float* weights, float* alpha, Threads threads) {
  const int64_t nodes = static_cast<int64_t>(offsets.size()) - 1;
#pragma omp parallel for schedule(dynamic, 256) num_threads(threads.count)
  for (int64_t i = 0; i < nodes; ++i)
    reweigh_target(offsets[i + 1] - offsets[i], heads, weights + offsets[i], alpha + offsets[i] * heads);
}

}  // namespace graphpae::kernels
