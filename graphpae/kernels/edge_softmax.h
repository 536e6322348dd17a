// The softmax over the edges into one target.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

namespace graphpae::kernels {

// values [edges, H], in place, each head by itself. of_heads [H] is scratch.
inline void edge_softmax(float* values, int64_t edges, std::vector<float>& of_heads) {
  const int64_t heads = static_cast<int64_t>(of_heads.size());
  std::fill(of_heads.begin(), of_heads.end(), -HUGE_VALF);
  for (int64_t e = 0; e < edges; ++e) {
    for (int64_t h = 0; h < heads; ++h) of_heads[h] = std::max(of_heads[h], values[e * heads + h]);
  }
  for (int64_t e = 0; e < edges; ++e) {
    for (int64_t h = 0; h < heads; ++h) values[e * heads + h] = std::exp(values[e * heads + h] - of_heads[h]);
  }
  std::fill(of_heads.begin(), of_heads.end(), 0.0f);
  for (int64_t e = 0; e < edges; ++e) {
    for (int64_t h = 0; h < heads; ++h) of_heads[h] += values[e * heads + h];
  }
  for (int64_t e = 0; e < edges; ++e) {
    for (int64_t h = 0; h < heads; ++h) values[e * heads + h] /= of_heads[h];
  }
}

}  // namespace graphpae::kernels
