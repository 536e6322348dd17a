#include "graphpae/kernels/gather_attention.h"

#include <algorithm>
#include <cmath>
#include <vector>

#include "graphpae/kernels/edge_softmax.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/gather_attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<float>;

// out [H,C] += weights [H] times the rows of z [H,C].
void AddWeightedRow(const float* HWY_RESTRICT z, const float* HWY_RESTRICT weights, int64_t heads, int64_t columns,
                    float* HWY_RESTRICT out) {
  const Tag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  for (int64_t h = 0; h < heads; ++h, z += columns, out += columns) {
    const auto weight = hn::Set(d, weights[h]);
    int64_t c = 0;
    for (; c + lanes <= columns; c += lanes)
      hn::StoreU(hn::MulAdd(weight, hn::LoadU(d, z + c), hn::LoadU(d, out + c)), d, out + c);
    for (; c < columns; ++c) out[c] = std::fma(weights[h], z[c], out[c]);
  }
}

}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {
namespace {

HWY_EXPORT(AddWeightedRow);

// The softmax over the edges of one target. weights [S,H]
void edge_weights(const BlockEdges& edges, const GatherAttention& a, int64_t target, std::vector<float>& weights,
                  std::vector<float>& of_heads) {
  const int64_t first = edges.offsets[target], last = edges.offsets[target + 1], heads = a.heads;
  weights.resize(static_cast<size_t>((last - first) * heads));
  const float* of_target = a.target_logits + target * heads;
  for (int64_t e = first; e < last; ++e) {
    const float* of_source = a.source_logits + int64_t{edges.sources[e]} * heads;
    for (int64_t h = 0; h < heads; ++h) {
      const float shift = a.positions == nullptr ? 0.0f : a.positions[e * a.positions_stride + h];
      const float logit = of_source[h] + of_target[h] + shift;
      weights[(e - first) * heads + h] = logit > 0 ? logit : a.slope * logit;
    }
  }
  edge_softmax(weights.data(), last - first, of_heads);
}

}  // namespace

void gather_attention(const BlockEdges& edges, const GatherAttention& a, float* out, Threads threads) {
  const int64_t targets = static_cast<int64_t>(edges.offsets.size()) - 1, width = a.heads * a.head_columns;
#pragma omp parallel num_threads(threads.count)
  {
    flush_denormals();
    std::vector<float> weights, of_heads(static_cast<size_t>(a.heads));
#pragma omp for schedule(dynamic, 16)
    for (int64_t i = 0; i < targets; ++i) {
      edge_weights(edges, a, i, weights, of_heads);
      float* row = out + i * width;
      std::copy_n(a.bias, width, row);
      for (int64_t e = edges.offsets[i]; e < edges.offsets[i + 1]; ++e) {
        HWY_DYNAMIC_DISPATCH(AddWeightedRow)
        (a.z + int64_t{edges.sources[e]} * width, weights.data() + (e - edges.offsets[i]) * a.heads, a.heads,
         a.head_columns, row);
      }
    }
  }
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
