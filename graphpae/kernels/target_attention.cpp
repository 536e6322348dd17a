#include "graphpae/kernels/target_attention.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "graphpae/kernels/reweigh.h"
#include "graphpae/kernels/row_ranges.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/target_attention.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

// sums[h] += w[h] * row for all heads: the row of a source is read once, the sums stay in the first-level cache.
void AddRow(const float* HWY_RESTRICT row, const float* HWY_RESTRICT weights, int64_t heads, int64_t columns,
            float* HWY_RESTRICT sums) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  int64_t c = 0;
  for (; c + 2 * lanes <= columns; c += 2 * lanes) {
    const auto a = hn::LoadU(d, row + c), b = hn::LoadU(d, row + c + lanes);
    for (int64_t h = 0; h < heads; ++h) {
      const auto w = hn::Set(d, weights[h]);
      float* to = sums + h * columns + c;
      hn::StoreU(hn::MulAdd(w, a, hn::LoadU(d, to)), d, to);
      hn::StoreU(hn::MulAdd(w, b, hn::LoadU(d, to + lanes)), d, to + lanes);
    }
  }
  for (; c < columns; ++c) {
    for (int64_t h = 0; h < heads; ++h) sums[h * columns + c] += weights[h] * row[c];
  }
}

// d_row += sum over heads of w[h] * d_sums[h], and dots[h] = <d_sums[h], row>.
void AddRowBackward(const float* HWY_RESTRICT row, const float* HWY_RESTRICT weights, const float* HWY_RESTRICT d_sums,
                    int64_t heads, int64_t columns, float* HWY_RESTRICT d_row, float* HWY_RESTRICT dots) {
  const hn::ScalableTag<float> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  // Four heads at a time, so that sums and dots stay in registers.
  for (int64_t first = 0; first < heads; first += 4) {
    const int64_t count = std::min<int64_t>(4, heads - first);
    float w[4] = {0, 0, 0, 0};
    const float* from[4];
    for (int64_t h = 0; h < 4; ++h) {
      w[h] = h < count ? weights[first + h] : 0.0f;
      from[h] = d_sums + std::min(first + h, heads - 1) * columns;
    }
    const auto w0 = hn::Set(d, w[0]), w1 = hn::Set(d, w[1]), w2 = hn::Set(d, w[2]), w3 = hn::Set(d, w[3]);
    auto dot0 = hn::Zero(d), dot1 = hn::Zero(d), dot2 = hn::Zero(d), dot3 = hn::Zero(d);
    int64_t c = 0;
    for (; c + lanes <= columns; c += lanes) {
      const auto x = hn::LoadU(d, row + c);
      const auto g0 = hn::LoadU(d, from[0] + c), g1 = hn::LoadU(d, from[1] + c), g2 = hn::LoadU(d, from[2] + c),
                 g3 = hn::LoadU(d, from[3] + c);
      dot0 = hn::MulAdd(g0, x, dot0);
      dot1 = hn::MulAdd(g1, x, dot1);
      dot2 = hn::MulAdd(g2, x, dot2);
      dot3 = hn::MulAdd(g3, x, dot3);
      auto sum = hn::MulAdd(w0, g0, hn::LoadU(d, d_row + c));
      sum = hn::MulAdd(w1, g1, sum);
      sum = hn::MulAdd(w2, g2, sum);
      sum = hn::MulAdd(w3, g3, sum);
      hn::StoreU(sum, d, d_row + c);
    }
    float totals[4] = {hn::GetLane(hn::SumOfLanes(d, dot0)), hn::GetLane(hn::SumOfLanes(d, dot1)),
                       hn::GetLane(hn::SumOfLanes(d, dot2)), hn::GetLane(hn::SumOfLanes(d, dot3))};
    for (; c < columns; ++c) {
      for (int64_t h = 0; h < count; ++h) {
        totals[h] += from[h][c] * row[c];
        d_row[c] += w[h] * from[h][c];
      }
    }
    for (int64_t h = 0; h < count; ++h) dots[first + h] = totals[h];
  }
}

// out [H,C] += weights [H] times the rows of z [H,C].
void AddWeightedRow(const float* HWY_RESTRICT z, const float* HWY_RESTRICT weights, int64_t heads, int64_t columns,
                    float* HWY_RESTRICT out) {
  const hn::ScalableTag<float> d;
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

HWY_EXPORT(AddRow);
HWY_EXPORT(AddRowBackward);
HWY_EXPORT(AddWeightedRow);

namespace {

// values [edges, H], in place, each head by itself. of_heads [H] is scratch.
void edge_softmax(float* values, int64_t edges, std::vector<float>& of_heads) {
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

// alpha [edges, H] of the edges into one target, and its logits before LeakyReLU unless null. shift(e, h) is what the
// positions of an edge add.
template <class Shift>
void target_softmax(const int32_t* sources, int64_t edges, float slope, const float* source_logits,
                    const float* target_logits, const Shift& shift, float* logits, float* alpha,
                    std::vector<float>& of_heads) {
  const int64_t heads = static_cast<int64_t>(of_heads.size());
  for (int64_t e = 0; e < edges; ++e) {
    for (int64_t h = 0; h < heads; ++h) {
      const float value = source_logits[int64_t{sources[e]} * heads + h] + target_logits[h] + shift(e, h);
      if (logits != nullptr) logits[e * heads + h] = value;
      alpha[e * heads + h] = value > 0 ? value : slope * value;
    }
  }
  edge_softmax(alpha, edges, of_heads);
}

}  // namespace

TargetEdges target_edges(const EdgeIndex& index, std::span<const int32_t> targets) {
  TargetEdges out;
  out.num_nodes = index.num_nodes();
  out.targets.assign(targets.begin(), targets.end());
  out.offsets.assign(1, 0);
  out.offsets.reserve(targets.size() + 1);
  for (const int32_t i : targets)
    out.offsets.push_back(out.offsets.back() + index.offsets()[i + 1] - index.offsets()[i]);
  const int64_t count = out.offsets.back();
  out.sources.resize(count);
  out.edges.resize(count);
  out.out_offsets.assign(static_cast<size_t>(out.num_nodes + 1), 0);
  for (int64_t m = 0; m < out.num_targets(); ++m) {
    int64_t e = index.offsets()[targets[m]];
    for (int64_t s = out.offsets[m]; s < out.offsets[m + 1]; ++s, ++e) {
      out.edges[s] = static_cast<int32_t>(e);
      out.sources[s] = index.sources()[e];
      ++out.out_offsets[out.sources[s] + 1];
    }
  }
  std::partial_sum(out.out_offsets.begin(), out.out_offsets.end(), out.out_offsets.begin());
  out.out_slots.resize(count);
  out.out_rows.resize(count);
  Buffer<int64_t> next(out.out_offsets.begin(), out.out_offsets.end() - 1);
  for (int64_t m = 0; m < out.num_targets(); ++m) {
    for (int64_t s = out.offsets[m]; s < out.offsets[m + 1]; ++s) {
      const int64_t place = next[out.sources[s]]++;
      out.out_slots[place] = static_cast<int32_t>(s);
      out.out_rows[place] = static_cast<int32_t>(m);
    }
  }
  return out;
}

void target_attention(const TargetEdges& edges, int64_t heads, float slope, const float* source_logits,
                      const float* target_logits, const float* positions, float* logits, float* alpha,
                      Threads threads) {
  const auto make = [&] { return std::vector<float>(heads); };
  for_parts(edges.num_targets(), threads.count, 64, make, [&](int64_t m, std::vector<float>& of_heads) {
    const int64_t first = edges.offsets[m];
    const auto shift = [&](int64_t e, int64_t h) {
      return positions == nullptr ? 0.0f : positions[int64_t{edges.edges[first + e]} * heads + h];
    };
    target_softmax(edges.sources.data() + first, edges.offsets[m + 1] - first, slope, source_logits,
                   target_logits + int64_t{edges.targets[m]} * heads, shift, logits + first * heads,
                   alpha + first * heads, of_heads);
  });
}

void target_attention_backward(const TargetEdges& edges, int64_t heads, float slope, const float* logits,
                               const float* alpha, const float* d_alpha, const float* d_logits, int64_t num_edges,
                               float* d_positions, float* d_source_logits, float* d_target_logits, Threads threads) {
  Buffer<float> totals(edges.num_edges() * heads);
  std::fill(d_target_logits, d_target_logits + edges.num_nodes * heads, 0.0f);
  if (d_positions != nullptr) std::fill(d_positions, d_positions + num_edges * heads, 0.0f);
  const auto make = [&] { return std::vector<float>(heads); };
  for_parts(edges.num_targets(), threads.count, 64, make, [&](int64_t m, std::vector<float>& mean) {
    float* d_target = d_target_logits + int64_t{edges.targets[m]} * heads;
    std::fill(mean.begin(), mean.end(), 0.0f);
    for (int64_t s = edges.offsets[m]; s < edges.offsets[m + 1]; ++s) {
      for (int64_t h = 0; h < heads; ++h) mean[h] += alpha[s * heads + h] * d_alpha[s * heads + h];
    }
    for (int64_t s = edges.offsets[m]; s < edges.offsets[m + 1]; ++s) {
      for (int64_t h = 0; h < heads; ++h) {
        const int64_t at = s * heads + h;
        float value = alpha[at] * (d_alpha[at] - mean[h]) * (logits[at] > 0 ? 1.0f : slope);
        if (d_logits != nullptr) value += d_logits[at];
        totals[at] = value;
        d_target[h] += value;
        if (d_positions != nullptr) d_positions[int64_t{edges.edges[s]} * heads + h] = value;
      }
    }
  });
  for_row_ranges(edges.num_nodes, threads, [&](int64_t first, int64_t last) {
    for (int64_t j = first; j < last; ++j) {
      float* d_source = d_source_logits + j * heads;
      std::fill(d_source, d_source + heads, 0.0f);
      for (int64_t place = edges.out_offsets[j]; place < edges.out_offsets[j + 1]; ++place) {
        const float* from = totals.data() + int64_t{edges.out_slots[place]} * heads;
        for (int64_t h = 0; h < heads; ++h) d_source[h] += from[h];
      }
    }
  });
}

void drop_target_weights(const TargetEdges& edges, int64_t heads, const Dropout& dropout, const float* values,
                         float* weights, Threads threads) {
#pragma omp parallel for schedule(static) num_threads(threads.count)
  for (int64_t s = 0; s < edges.num_edges(); ++s) {
    const uint32_t hash = dropout_row_hash(dropout, edges.edges[s]);
    for (int64_t h = 0; h < heads; ++h)
      weights[s * heads + h] =
          keeps(dropout, hash, static_cast<uint32_t>(h)) ? values[s * heads + h] * dropout.scale() : 0.0f;
  }
}

void target_sums(const TargetEdges& edges, int64_t heads, int64_t columns, const float* weights, const float* x,
                 float* sums, Threads threads) {
  for_parts(edges.num_targets(), threads.count, 16, [&](int64_t m) {
    float* row = sums + m * heads * columns;
    std::fill(row, row + heads * columns, 0.0f);
    for (int64_t s = edges.offsets[m]; s < edges.offsets[m + 1]; ++s) {
      HWY_DYNAMIC_DISPATCH(AddRow)
      (x + int64_t{edges.sources[s]} * columns, weights + s * heads, heads, columns, row);
    }
  });
}

void target_sums_backward(const TargetEdges& edges, int64_t heads, int64_t columns, const float* weights,
                          const float* x, const float* d_sums, float* d_x, float* d_weights, Threads threads) {
  for_parts(edges.num_nodes, threads.count, 16, [&](int64_t j) {
    float* d_row = d_x + j * columns;
    std::fill(d_row, d_row + columns, 0.0f);
    for (int64_t place = edges.out_offsets[j]; place < edges.out_offsets[j + 1]; ++place) {
      const int64_t s = edges.out_slots[place];
      HWY_DYNAMIC_DISPATCH(AddRowBackward)
      (x + j * columns, weights + s * heads, d_sums + int64_t{edges.out_rows[place]} * heads * columns, heads, columns,
       d_row, d_weights + s * heads);
    }
  });
}

void gather_attention(const BlockEdges& edges, const GatherAttention& a, float* out, Threads threads) {
  const int64_t targets = static_cast<int64_t>(edges.offsets.size()) - 1, width = a.heads * a.head_columns;
  struct Room {
    std::vector<float> weights, of_heads;
  };
  const auto make = [&] { return Room{{}, std::vector<float>(a.heads)}; };
  for_parts(targets, threads.count, 16, make, [&](int64_t i, Room& room) {
    const int64_t first = edges.offsets[i], count = edges.offsets[i + 1] - first;
    room.weights.resize(count * a.heads);
    const auto shift = [&](int64_t e, int64_t h) {
      return a.positions == nullptr ? 0.0f : a.positions[(first + e) * a.positions_stride + h];
    };
    target_softmax(edges.sources.data() + first, count, a.slope, a.source_logits, a.target_logits + i * a.heads, shift,
                   nullptr, room.weights.data(), room.of_heads);
    if (a.edge_weights != nullptr) reweigh_target(count, a.heads, a.edge_weights + first, room.weights.data());
    float* row = out + i * width;
    std::copy_n(a.bias, width, row);
    for (int64_t e = 0; e < count; ++e) {
      HWY_DYNAMIC_DISPATCH(AddWeightedRow)
      (a.z + int64_t{edges.sources[first + e]} * width, room.weights.data() + e * a.heads, a.heads, a.head_columns,
       row);
    }
  });
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
