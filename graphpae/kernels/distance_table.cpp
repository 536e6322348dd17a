#include "graphpae/kernels/distance_table.h"

#include <hwy/aligned_allocator.h>

#include <algorithm>
#include <array>

#include "graphpae/kernels/row_ranges.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/distance_table.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graphpae/kernels/columns-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {
namespace {

constexpr int64_t kNodes = DistanceGrid::kNodes;
constexpr int64_t kBlock = 256;  // distances at once: [kNodes,kBlock] weights take 8 KB

// weights [kNodes,kBlock] of places [0, count): those of the Lagrange polynomials of the points -3, ..., 4 at t.
void Weights(const DistanceGrid::Place* places, int64_t count, float* HWY_RESTRICT weights) {
  const FullTag d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  HWY_ALIGN float t_values[kBlock] = {};
  for (int64_t b = 0; b < count; ++b) t_values[b] = places[b].t;
  // 1 / prod_{j != i} (i - j)
  constexpr float kScale[kNodes] = {-1.0f / 5040, 1.0f / 720, -1.0f / 240, 1.0f / 144,
                                    -1.0f / 144,  1.0f / 240, -1.0f / 720, 1.0f / 5040};
  for (int64_t b = 0; b < count; b += lanes) {
    const auto t = hn::Load(d, t_values + b);
    hn::Vec<FullTag> below[kNodes];  // the product of the factors before i
    for (int64_t i = 1; i < kNodes; ++i) {
      const auto factor = hn::Add(t, hn::Set(d, static_cast<float>(4 - i)));
      below[i] = i == 1 ? factor : hn::Mul(below[i - 1], factor);
    }
    auto above = hn::Set(d, 1.0f);
    for (int64_t i = kNodes - 1; i >= 0; --i) {
      const auto product = i == 0 ? above : hn::Mul(below[i], above);
      hn::Store(hn::Mul(product, hn::Set(d, kScale[i])), d, weights + i * kBlock + b);
      above = hn::Mul(above, hn::Add(t, hn::Set(d, static_cast<float>(3 - i))));
    }
  }
}

// out of places [first, last) from table [P,H].
void Interpolate(const DistanceGrid::Place* places, int64_t first, int64_t last, const float* HWY_RESTRICT table,
                 int64_t heads, float* HWY_RESTRICT out) {
  HWY_ALIGN float weights[kNodes * kBlock];
  for (int64_t begin = first; begin < last; begin += kBlock) {
    const int64_t end = std::min(last, begin + kBlock);
    Weights(places + begin, end - begin, weights);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = places[i].at;
      float* to = out + i * heads;
      if (at < 0) {
        const float* row = table + ~at * heads;
        for_elements(0, heads, [&](auto d, int64_t h) HWY_ATTR { hn::StoreU(hn::LoadU(d, row + h), d, to + h); });
        continue;
      }
      const float* rows = table + at * heads;
      const float* w = weights + (i - begin);
      for_elements(0, heads, [&](auto d, int64_t h) HWY_ATTR {
        const auto term = [&](int64_t r) HWY_ATTR {
          return hn::Mul(hn::Set(d, w[r * kBlock]), hn::LoadU(d, rows + r * heads + h));
        };
        const auto add = [&](int64_t r, auto sum) HWY_ATTR {
          return hn::MulAdd(hn::Set(d, w[r * kBlock]), hn::LoadU(d, rows + r * heads + h), sum);
        };
        // From the smallest terms to the largest.
        const auto low = add(3, add(2, add(1, term(0)))), high = add(4, add(5, add(6, term(7))));
        hn::StoreU(hn::Add(low, high), d, to + h);
      });
    }
  }
}

// Adds d_out of places [first, last) to the gradient of the table, d_table [P,H].
void AddToTable(const DistanceGrid::Place* places, int64_t first, int64_t last, const float* HWY_RESTRICT d_out,
                int64_t heads, float* HWY_RESTRICT zero_sums, float* HWY_RESTRICT d_table) {
  HWY_ALIGN float weights[kNodes * kBlock];
  for (int64_t begin = first; begin < last; begin += kBlock) {
    const int64_t end = std::min(last, begin + kBlock);
    Weights(places + begin, end - begin, weights);
    std::fill_n(zero_sums, heads, 0.0f);  // the frequent distance 0: sums of sums keep more digits
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = places[i].at;
      const float* from = d_out + i * heads;
      if (at < 0) {
        float* row = at == ~int64_t{0} ? zero_sums : d_table + ~at * heads;
        for_elements(0, heads, [&](auto d, int64_t h) HWY_ATTR {
          hn::StoreU(hn::Add(hn::LoadU(d, row + h), hn::LoadU(d, from + h)), d, row + h);
        });
        continue;
      }
      float* rows = d_table + at * heads;
      const float* w = weights + (i - begin);
      for_elements(0, heads, [&](auto d, int64_t h) HWY_ATTR {
        const auto gradient = hn::LoadU(d, from + h);
        for (int64_t r = 0; r < kNodes; ++r) {
          float* row = rows + r * heads + h;
          hn::StoreU(hn::MulAdd(hn::Set(d, w[r * kBlock]), gradient, hn::LoadU(d, row)), d, row);
        }
      });
    }
    for (int64_t h = 0; h < heads; ++h) d_table[h] += zero_sums[h];
  }
}

}  // namespace
}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {

HWY_EXPORT(Interpolate);
HWY_EXPORT(AddToTable);

void table_forward(const DistanceEmbedding& embedding, const DistanceGrid& grid, float* out, Threads threads) {
  const auto points = static_cast<int64_t>(grid.points.size()), count = static_cast<int64_t>(grid.places.size());
  const auto table = hwy::AllocateAligned<float>(points * embedding.heads);
  distance_embedding_forward(embedding, grid.points.data(), points, table.get(), threads);
  const int64_t parts = 8 * threads.count;
  for_parts(parts, threads.count, [&](int64_t part) {
    const auto [first, last] = part_of(count, part, parts);
    HWY_DYNAMIC_DISPATCH(Interpolate)(grid.places.data(), first, last, table.get(), embedding.heads, out);
  });
}

void table_backward(const DistanceEmbedding& embedding, const DistanceGrid& grid, const float* d_out,
                    const DistanceEmbeddingGradients& gradients, Threads threads) {
  const auto points = static_cast<int64_t>(grid.points.size()), count = static_cast<int64_t>(grid.places.size());
  const int64_t heads = embedding.heads, size = points * heads, parts = gradient_parts(count, heads);
  const auto d_table = hwy::AllocateAligned<float>((size + heads) * parts);
  for_parts(parts, threads.count, [&](int64_t part) {
    float* own = d_table.get() + part * size;
    std::fill_n(own, size, 0.0f);
    const auto [first, last] = part_of(count, part, parts);
    HWY_DYNAMIC_DISPATCH(AddToTable)
    (grid.places.data(), first, last, d_out, heads, d_table.get() + parts * size + part * heads, own);
  });
  constexpr int64_t kChunk = 512;
  for_parts((size + kChunk - 1) / kChunk, threads.count, [&](int64_t chunk) {
    const int64_t begin = chunk * kChunk, length = std::min(kChunk, size - begin);
    std::array<double, kChunk> sums = {};
    for (int64_t part = 0; part < parts; ++part) {
      for (int64_t k = 0; k < length; ++k) sums[k] += d_table[part * size + begin + k];
    }
    for (int64_t k = 0; k < length; ++k) d_table[begin + k] = static_cast<float>(sums[k]);
  });
  distance_embedding_backward(embedding, grid.points.data(), points, d_table.get(), gradients, threads);
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
