#include "graphpae/kernels/distance_embedding.h"

#include <hwy/aligned_allocator.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "graphpae/kernels/row_ranges.h"

// Shapes with padding, and where things are in scratch memory; the same for every target.
#ifndef GRAPHPAE_DISTANCE_EMBEDDING_LAYOUT_
#define GRAPHPAE_DISTANCE_EMBEDDING_LAYOUT_
namespace graphpae::kernels {
namespace {

constexpr int64_t kBlock = 96;  // distances at once: a multiple of three vectors; a [G,kBlock] array takes 48 KB
constexpr float kLeastStd = 1e-5f;

constexpr int64_t round_up(int64_t n, int64_t unit) { return (n + unit - 1) / unit * unit; }

// Rows are padded to the tiles of every target, columns of dW1 to two vectors.
struct Layout {
  int64_t kernels, hidden, heads, columns, transposed;
  explicit Layout(const DistanceEmbedding& e)
      : kernels(round_up(e.kernels, 8)),
        hidden(round_up(e.hidden, 8)),
        heads(round_up(e.heads, 8)),
        columns(round_up(e.hidden, 32)),
        // An odd number of cache lines, so that a column of tiles uses all sets of the cache.
        transposed(columns + 16 * (columns / 16 % 2 == 0)) {}
};

// The parameters as the products want them.
struct Tables {
  float *by_hidden, *by_kernel, *by_head, *heads_by_hidden;  // W1^T, W1, W2^T, W2, in tiles of rows
  float *bias1, *bias2, *means, *inverse, *factor;

  static int64_t size(const Layout& l) {
    return 2 * l.kernels * l.hidden + 2 * l.hidden * l.heads + l.hidden + l.heads + 3 * l.kernels;
  }
  Tables(const Layout& l, float* at) {
    const auto take = [&at](int64_t count) { return std::exchange(at, at + count); };
    by_hidden = take(l.kernels * l.hidden);
    by_kernel = take(l.kernels * l.hidden);
    by_head = take(l.hidden * l.heads);
    heads_by_hidden = take(l.hidden * l.heads);
    bias1 = take(l.hidden);
    bias2 = take(l.heads);
    means = take(l.kernels);
    inverse = take(l.kernels);
    factor = take(l.kernels);
  }
};

// What one block of distances goes through; one per thread.
struct BlockScratch {
  float *distances, *gaussians, *values, *d_hidden, *transposed, *heads;

  static int64_t size(const Layout& l) {
    return kBlock * (1 + l.kernels + std::max(l.kernels, l.hidden) + l.hidden + l.transposed + l.heads);
  }
  BlockScratch(const Layout& l, float* at) {
    const auto take = [&at](int64_t rows) { return std::exchange(at, at + rows * kBlock); };
    distances = take(1);
    gaussians = take(l.kernels);                   // [G,kBlock]
    values = take(std::max(l.kernels, l.hidden));  // [K,kBlock] hidden layer, then [G,kBlock] gradient of gaussians
    d_hidden = take(l.hidden);                     // [K,kBlock]
    transposed = take(l.transposed);               // [kBlock,K] of d_hidden
    heads = take(l.heads);                         // [H,kBlock] out or its gradient
  }
};

// Sums of gradients over one part of the distances, padded.
struct PartSums {
  float *weight1, *weight2, *bias1, *bias2, *means, *stds;

  static int64_t size(const Layout& l) {
    return round_up(l.kernels * l.columns + l.hidden * l.heads + l.hidden + l.heads + 2 * l.kernels, 16);
  }
  PartSums(const Layout& l, float* at) {
    const auto take = [&at](int64_t count) { return std::exchange(at, at + count); };
    weight1 = take(l.kernels * l.columns);
    weight2 = take(l.hidden * l.heads);
    bias1 = take(l.hidden);
    bias2 = take(l.heads);
    means = take(l.kernels);
    stds = take(l.kernels);
  }
};

}  // namespace
}  // namespace graphpae::kernels
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/distance_embedding.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graphpae/kernels/columns-inl.h"
#include "graphpae/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {
namespace {

static_assert(kBlock % (3 * kLanes) == 0 && 8 % kTileRows == 0 && 32 % (2 * kLanes) == 0);

void FillTables(const DistanceEmbedding& e, const Layout& layout, const Tables& tables) {
  PackRows(e.weight1, 1, e.hidden, e.hidden, e.kernels, tables.by_hidden);
  PackRows(e.weight1, e.hidden, 1, e.kernels, e.hidden, tables.by_kernel);
  PackRows(e.weight2, 1, e.heads, e.heads, e.hidden, tables.by_head);
  PackRows(e.weight2, e.heads, 1, e.hidden, e.heads, tables.heads_by_hidden);
  std::fill_n(tables.bias1, layout.hidden, 0.0f);
  std::fill_n(tables.bias2, layout.heads, 0.0f);
  std::copy_n(e.bias1, e.hidden, tables.bias1);
  std::copy_n(e.bias2, e.heads, tables.bias2);
  for (int64_t k = 0; k < e.kernels; ++k) {
    const float s = std::abs(e.stds[k]) + kLeastStd;
    tables.means[k] = e.means[k];
    tables.inverse[k] = 1 / s;
    tables.factor[k] = e.density ? static_cast<float>(1 / (kGaussianFactor * s)) : 1.0f;
  }
}

// gaussians [G,kBlock] and the hidden layer before its GELU, values [K,kBlock].
void Hidden(const DistanceEmbedding& e, const Tables& tables, const BlockScratch& block) {
  const Floats d;
  for (int64_t k = 0; k < e.kernels; ++k) {
    const auto mean = hn::Set(d, tables.means[k]), inverse = hn::Set(d, tables.inverse[k]);
    const auto factor = hn::Set(d, tables.factor[k]), half = hn::Set(d, -0.5f);
    float* to = block.gaussians + k * kBlock;
    for (int64_t b = 0; b < kBlock; b += kLanes) {
      const auto u = hn::Mul(hn::Sub(hn::Load(d, block.distances + b), mean), inverse);
      hn::Store(hn::Mul(factor, Exp(d, hn::Mul(half, hn::Mul(u, u)))), d, to + b);
    }
  }
  PackedProduct(tables.by_hidden, e.hidden, e.kernels, block.gaussians, kBlock, Start::bias, tables.bias1,
                block.values);
}

void LoadBlock(const float* distances, int64_t first, int64_t last, float* block) {
  std::copy(distances + first, distances + last, block);
  std::fill(block + (last - first), block + kBlock, 0.0f);
}

// Distances [first, last), block by block.
void EmbedDistances(const DistanceEmbedding& e, const Layout&, const Tables& tables, const BlockScratch& block,
                    const float* distances, float* out, int64_t first, int64_t last) {
  const Floats d;
  for (int64_t begin = first; begin < last; begin += kBlock) {
    const int64_t end = std::min(last, begin + kBlock);
    LoadBlock(distances, begin, end, block.distances);
    Hidden(e, tables, block);
    for (int64_t k = 0; k < e.hidden * kBlock; k += 3 * kLanes) {
      for (int64_t v = 0; v < 3; ++v) {  // three at a time, to hide latency
        float* at = block.values + k + v * kLanes;
        hn::Store(Gelu(d, hn::Load(d, at)), d, at);
      }
    }
    PackedProduct(tables.by_head, e.heads, e.hidden, block.values, kBlock, Start::bias, tables.bias2, block.heads);
    for (int64_t b = begin; b < end; ++b) {
      for (int64_t h = 0; h < e.heads; ++h) out[b * e.heads + h] = block.heads[h * kBlock + b - begin];
    }
  }
}

// dW1 += gaussians d_hidden^T.
void AddWeight1(const Layout& layout, const BlockScratch& block, const PartSums& sums) {
  for (int64_t column = 0; column < layout.columns; column += 2 * kLanes) {
    const float* b = block.transposed + column;
    const auto tile = [&]<int kRows>(int64_t k) {
      ProductTile<kRows, 2>(block.gaussians + k * kBlock, kBlock, 1, b, layout.transposed, kBlock, Start::sum, nullptr,
                            sums.weight1 + k * layout.columns + column, layout.columns);
    };
    int64_t k = 0;
    if constexpr (kTileRows == 4) {  // 16 registers hold tiles of six rows; the rows left are then a multiple of four
      while ((layout.kernels - k) % 4 != 0 || layout.kernels - k >= 12) {
        tile.template operator()<6>(k);
        k += 6;
      }
    }
    for (; k < layout.kernels; k += kTileRows) tile.template operator()<kTileRows>(k);
  }
}

// Adds the gradients of distances [first, last) to `sums`.
void AddGradients(const DistanceEmbedding& e, const Layout& layout, const Tables& tables, const BlockScratch& block,
                  const float* distances, const float* d_out, int64_t first, int64_t last, const PartSums& sums) {
  const Floats d;
  std::fill(block.gaussians + e.kernels * kBlock, block.gaussians + layout.kernels * kBlock, 0.0f);
  std::fill_n(block.transposed, kBlock * layout.transposed, 0.0f);
  for (int64_t begin = first; begin < last; begin += kBlock) {
    const int64_t end = std::min(last, begin + kBlock);
    LoadBlock(distances, begin, end, block.distances);
    Hidden(e, tables, block);

    std::fill_n(block.heads, layout.heads * kBlock, 0.0f);  // gradients beyond the last distance are zero
    for (int64_t b = begin; b < end; ++b) {
      for (int64_t h = 0; h < e.heads; ++h) block.heads[h * kBlock + b - begin] = d_out[b * e.heads + h];
    }
    PackedProduct(tables.heads_by_hidden, e.hidden, e.heads, block.heads, kBlock, Start::zero, tables.bias1,
                  block.d_hidden);
    for (int64_t h = 0; h < e.heads; ++h) {
      auto sum = hn::Zero(d);
      for (int64_t b = 0; b < kBlock; b += kLanes) sum = hn::Add(sum, hn::Load(d, block.heads + h * kBlock + b));
      sums.bias2[h] += SumLanes(d, sum);
    }
    for (int64_t k = 0; k < e.hidden; ++k) {
      float *value = block.values + k * kBlock, *gradient = block.d_hidden + k * kBlock;
      auto total = hn::Zero(d);
      for (int64_t b = 0; b < kBlock; b += kLanes) {
        auto slope = hn::Zero(d);
        hn::Store(GeluWithSlope(d, hn::Load(d, value + b), slope), d, value + b);
        slope = hn::Mul(slope, hn::Load(d, gradient + b));
        hn::Store(slope, d, gradient + b);
        total = hn::Add(total, slope);
      }
      sums.bias1[k] += SumLanes(d, total);
      // Beyond the last head there are zeros.
      AddDots(value, block.heads, e.heads, kBlock, sums.weight2 + k * layout.heads);
    }
    Transpose(block.d_hidden, kBlock, PackedRows(e.hidden), kBlock, block.transposed, layout.transposed);
    AddWeight1(layout, block, sums);

    PackedProduct(tables.by_kernel, e.kernels, e.hidden, block.d_hidden, kBlock, Start::zero, tables.means,
                  block.values);
    for (int64_t k = 0; k < e.kernels; ++k) {
      // With t = gradient * g and u = (p - mean) / s: d_mean = sum t u / s, d_s = sum t (u^2 - density) / s.
      const auto mean = hn::Set(d, tables.means[k]), inverse = hn::Set(d, tables.inverse[k]);
      auto zeroth = hn::Zero(d), once = zeroth, twice = zeroth;
      for (int64_t b = 0; b < kBlock; b += kLanes) {
        const auto u = hn::Mul(hn::Sub(hn::Load(d, block.distances + b), mean), inverse);
        const auto t =
            hn::Mul(hn::Load(d, block.values + k * kBlock + b), hn::Load(d, block.gaussians + k * kBlock + b));
        const auto tu = hn::Mul(t, u);
        zeroth = hn::Add(zeroth, t);
        once = hn::Add(once, tu);
        twice = hn::MulAdd(tu, u, twice);
      }
      float four[4];
      SumFour(d, zeroth, once, twice, twice, four);
      sums.means[k] += four[1] * tables.inverse[k];
      sums.stds[k] += (four[2] - (e.density ? four[0] : 0.0f)) * tables.inverse[k];
    }
  }
}

}  // namespace
}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {
namespace {

HWY_EXPORT(FillTables);
HWY_EXPORT(EmbedDistances);
HWY_EXPORT(AddGradients);

// Part `part` of the distances: whole blocks.
std::pair<int64_t, int64_t> part_of_distances(int64_t count, int64_t part, int64_t parts) {
  const auto [first, last] = part_of(round_up(count, kBlock) / kBlock, part, parts);
  return {first * kBlock, std::min(count, last * kBlock)};
}

}  // namespace

void distance_embedding_forward(const DistanceEmbedding& embedding, const float* distances, int64_t count, float* out,
                                Threads threads) {
  const Layout layout(embedding);
  const auto table_memory = hwy::AllocateAligned<float>(Tables::size(layout));
  const int64_t block_size = round_up(BlockScratch::size(layout), 16);
  const auto block_memory = hwy::AllocateAligned<float>(block_size * threads.count);
  const Tables tables(layout, table_memory.get());
  HWY_DYNAMIC_DISPATCH(FillTables)(embedding, layout, tables);
  const int64_t parts = 8 * threads.count;
  const auto make_block = [&] { return BlockScratch(layout, block_memory.get() + omp_get_thread_num() * block_size); };
  for_parts(parts, threads.count, 1, make_block, [&](int64_t part, const BlockScratch& block) {
    const auto [first, last] = part_of_distances(count, part, parts);
    HWY_DYNAMIC_DISPATCH(EmbedDistances)(embedding, layout, tables, block, distances, out, first, last);
  });
}

void distance_embedding_backward(const DistanceEmbedding& embedding, const float* distances, int64_t count,
                                 const float* d_out, const DistanceEmbeddingGradients& gradients, Threads threads) {
  const Layout layout(embedding);
  const int64_t parts = gradient_parts(count, embedding.heads);
  const auto table_memory = hwy::AllocateAligned<float>(Tables::size(layout));
  const int64_t block_size = round_up(BlockScratch::size(layout), 16), sums_size = PartSums::size(layout);
  const auto block_memory = hwy::AllocateAligned<float>(block_size * threads.count);
  const auto sums_memory = hwy::AllocateAligned<float>(sums_size * parts);
  const Tables tables(layout, table_memory.get());
  HWY_DYNAMIC_DISPATCH(FillTables)(embedding, layout, tables);
  const auto make_block = [&] { return BlockScratch(layout, block_memory.get() + omp_get_thread_num() * block_size); };
  for_parts(parts, threads.count, 1, make_block, [&](int64_t part, const BlockScratch& block) {
    float* memory = sums_memory.get() + part * sums_size;
    std::fill_n(memory, sums_size, 0.0f);
    const auto [first, last] = part_of_distances(count, part, parts);
    HWY_DYNAMIC_DISPATCH(AddGradients)
    (embedding, layout, tables, block, distances, d_out, first, last, PartSums(layout, memory));
  });
  add_parts(sums_memory.get(), parts, sums_size, threads);
  const PartSums sums(layout, sums_memory.get());
  for (int64_t k = 0; k < embedding.kernels; ++k) {
    const float std = embedding.stds[k];
    gradients.means[k] = sums.means[k];
    gradients.stds[k] = std > 0 ? sums.stds[k] : std < 0 ? -sums.stds[k] : 0.0f;
    std::copy_n(sums.weight1 + k * layout.columns, embedding.hidden, gradients.weight1 + k * embedding.hidden);
  }
  for (int64_t k = 0; k < embedding.hidden; ++k)
    std::copy_n(sums.weight2 + k * layout.heads, embedding.heads, gradients.weight2 + k * embedding.heads);
  std::copy_n(sums.bias1, embedding.hidden, gradients.bias1);
  std::copy_n(sums.bias2, embedding.heads, gradients.bias2);
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
