#include "graphpae/kernels/position_loss.h"

#include <hwy/aligned_allocator.h>
#include <omp.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "graphpae/kernels/row_ranges.h"

// Shapes with padding, and where things are in scratch memory; the same for every target.
#ifndef GRAPHPAE_POSITION_LOSS_LAYOUT_
#define GRAPHPAE_POSITION_LOSS_LAYOUT_
namespace graphpae::kernels {
namespace {

constexpr int64_t kPairs = 48;            // at once
constexpr int64_t kColumns = 2 * kPairs;  // forward edges, then backward edges: a multiple of three vectors
constexpr int64_t kPairParts = 32;        // of the pairs, each with its own sums
constexpr float kNormEpsilon = 1e-5f;

constexpr int64_t padded(int64_t n) { return (n + 7) / 8 * 8; }  // to the tiles of every target

// The decoder as the products want it.
struct DecoderTables {
  float *by_hidden, *by_head;  // W1^T and W1 in tiles of rows
  float *bias1, *product;      // b1; norm_weight * W2
  float offset = 0;            // b2 + W2 . norm_bias
  float mean = 0;              // of `product`

  static int64_t size(const PositionDecoder& p) {
    return 2 * padded(p.hidden) * padded(p.heads) + 2 * padded(p.hidden);
  }
  DecoderTables(const PositionDecoder& p, float* at) {
    by_hidden = at;
    by_head = by_hidden + padded(p.hidden) * padded(p.heads);
    bias1 = by_head + padded(p.hidden) * padded(p.heads);
    product = bias1 + padded(p.hidden);
  }
};

// What one block of pairs goes through; one per thread. Columns are directed edges.
struct PairScratch {
  float *refined, *d_refined, *values, *slopes;         // [H,kColumns] twice, [K,kColumns] twice
  float *sums, *inverse, *dots, *upstream, *predicted;  // [kColumns] each

  static int64_t size(const PositionDecoder& p) { return kColumns * (2 * padded(p.heads) + 2 * padded(p.hidden) + 5); }
  PairScratch(const PositionDecoder& p, float* at) {
    const auto take = [&at](int64_t rows) { return std::exchange(at, at + rows * kColumns); };
    refined = take(padded(p.heads));
    d_refined = take(padded(p.heads));
    values = take(padded(p.hidden));
    slopes = take(padded(p.hidden));
    sums = take(1);
    inverse = take(1);
    dots = take(1);
    upstream = take(1);
    predicted = take(1);
  }
};

// Sums over one part of the pairs.
struct DecoderSums {
  float *weight1, *bias1, *normed;  // [K,H], [K], [K]: the normed values times the gradient of the prediction
  float* upstream;                  // [1] that gradient alone

  static int64_t size(const PositionDecoder& p) { return padded(p.hidden) * (padded(p.heads) + 2) + 8; }
  DecoderSums(const PositionDecoder& p, float* at) {
    weight1 = at;
    bias1 = weight1 + padded(p.hidden) * padded(p.heads);
    normed = bias1 + padded(p.hidden);
    upstream = normed + padded(p.hidden);
  }
};

}  // namespace
}  // namespace graphpae::kernels
#endif

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/position_loss.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graphpae/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {
namespace {

static_assert(kColumns % (3 * kLanes) == 0 && 8 % kTileRows == 0);

void FillDecoderTables(const PositionDecoder& p, DecoderTables& tables) {
  PackRows(p.weight1, 1, p.hidden, p.hidden, p.heads, tables.by_hidden);
  PackRows(p.weight1, p.hidden, 1, p.heads, p.hidden, tables.by_head);
  std::fill_n(tables.bias1, padded(p.hidden), 0.0f);
  std::copy_n(p.bias1, p.hidden, tables.bias1);
  double offset = *p.bias2, sum = 0;
  for (int64_t k = 0; k < p.hidden; ++k) {
    tables.product[k] = p.norm_weight[k] * p.weight2[k];
    offset += double{p.weight2[k]} * p.norm_bias[k];
    sum += tables.product[k];
  }
  tables.offset = static_cast<float>(offset);
  tables.mean = static_cast<float>(sum / static_cast<double>(p.hidden));
}

// Positions of pairs [begin, end) of the list as columns, zero beyond.
void LoadPairs(const EdgeIndex& edges, const int32_t* pairs, int64_t heads, const float* refined, int64_t begin,
               int64_t end, float* columns) {
  if (end - begin < kPairs) std::fill_n(columns, heads * kColumns, 0.0f);
  const int32_t *forward = edges.pair_forward().data(), *backward = edges.pair_backward().data();
  for (int64_t q = begin; q < end; ++q) {
    const float *f = refined + forward[pairs[q]] * heads, *b = refined + backward[pairs[q]] * heads;
    for (int64_t h = 0; h < heads; ++h) {
      columns[h * kColumns + q - begin] = f[h];
      columns[h * kColumns + kPairs + q - begin] = b[h];
    }
  }
}

// Decodes the columns of a block into `predicted`. Leaves in `values` the values before the norm minus their mean, in
// `inverse` the inverse deviation, in `dots` the sum of values * product, and in `slopes` those of the GELU.
void Decode(const PositionDecoder& p, const DecoderTables& tables, const PairScratch& block) {
  const Floats d;
  PackedProduct(tables.by_hidden, p.hidden, p.heads, block.refined, kColumns, Start::bias, tables.bias1, block.values);
  std::fill_n(block.sums, kColumns, 0.0f);
  for (int64_t k = 0; k < p.hidden; ++k) {
    float *value = block.values + k * kColumns, *slope = block.slopes + k * kColumns;
    for (int64_t c = 0; c < kColumns; c += kLanes) {
      auto s = hn::Zero(d);
      const auto v = GeluWithSlope(d, hn::Load(d, value + c), s);
      hn::Store(s, d, slope + c);
      hn::Store(v, d, value + c);
      hn::Store(hn::Add(hn::Load(d, block.sums + c), v), d, block.sums + c);
    }
  }
  const auto per_hidden = hn::Set(d, 1.0f / static_cast<float>(p.hidden));
  for (int64_t column = 0; column < kColumns; column += 3 * kLanes) {
    Vector mean[3], squares[3], dot[3];
    for (int64_t v = 0; v < 3; ++v) {
      mean[v] = hn::Mul(hn::Load(d, block.sums + column + v * kLanes), per_hidden);
      squares[v] = dot[v] = hn::Zero(d);
    }
    for (int64_t k = 0; k < p.hidden; ++k) {
      const auto product = hn::Set(d, tables.product[k]);
      for (int64_t v = 0; v < 3; ++v) {
        float* at = block.values + k * kColumns + column + v * kLanes;
        const auto centred = hn::Sub(hn::Load(d, at), mean[v]);
        squares[v] = hn::MulAdd(centred, centred, squares[v]);
        dot[v] = hn::MulAdd(product, centred, dot[v]);
        hn::Store(centred, d, at);
      }
    }
    for (int64_t v = 0; v < 3; ++v) {
      const int64_t c = column + v * kLanes;
      const auto variance = hn::MulAdd(squares[v], per_hidden, hn::Set(d, kNormEpsilon));
      const auto inverse = hn::Div(hn::Set(d, 1.0f), hn::Sqrt(variance));
      hn::Store(inverse, d, block.inverse + c);
      hn::Store(dot[v], d, block.dots + c);
      hn::Store(hn::MulAdd(dot[v], inverse, hn::Set(d, tables.offset)), d, block.predicted + c);
    }
  }
}

// Turns slopes into gradients before the GELU and adds to the sums of a part.
void DecodeBackward(const PositionDecoder& p, const DecoderTables& tables, const PairScratch& block,
                    const DecoderSums& sums) {
  const Floats d;
  // With u the gradient of a prediction, i the inverse deviation and y the centred value, that of a value is
  // u i (product - mean of product) - y u i^3 dot / K.
  for (int64_t c = 0; c < kColumns; c += kLanes) {
    const auto inverse = hn::Load(d, block.inverse + c);
    const auto once = hn::Mul(hn::Load(d, block.upstream + c), inverse);
    const auto cube = hn::Mul(once, hn::Mul(inverse, inverse));
    const auto dot = hn::Mul(hn::Load(d, block.dots + c), hn::Set(d, 1.0f / static_cast<float>(p.hidden)));
    hn::Store(once, d, block.inverse + c);
    hn::Store(hn::Mul(cube, dot), d, block.dots + c);
  }
  for (int64_t k = 0; k < p.hidden; ++k) {
    const float* value = block.values + k * kColumns;
    float* gradient = block.slopes + k * kColumns;
    const auto product = hn::Set(d, tables.product[k] - tables.mean);
    auto normed = hn::Zero(d), total = normed;
    for (int64_t c = 0; c < kColumns; c += kLanes) {
      const auto y = hn::Load(d, value + c), once = hn::Load(d, block.inverse + c);
      normed = hn::MulAdd(once, y, normed);
      auto g = hn::NegMulAdd(y, hn::Load(d, block.dots + c), hn::Mul(once, product));
      g = hn::Mul(g, hn::Load(d, gradient + c));
      total = hn::Add(total, g);
      hn::Store(g, d, gradient + c);
    }
    float four[4];
    SumFour(d, normed, total, total, total, four);
    sums.normed[k] += four[0];
    sums.bias1[k] += four[1];
    // Beyond the last head there are zeros.
    AddDots(gradient, block.refined, p.heads, kColumns, sums.weight1 + k * padded(p.heads));
  }
}

// The loss of pairs [first, last), not yet divided by the sum of the weights, and its gradients.
double PairLoss(const EdgeIndex& edges, const PositionDecoder& p, const DecoderTables& tables, const PairScratch& block,
                const PositionTargets& targets, float per_weight, const float* refined, int64_t first, int64_t last,
                float* d_refined, const DecoderSums& sums) {
  std::fill_n(block.refined, padded(p.heads) * kColumns, 0.0f);
  double loss = 0, upstream = 0;
  for (int64_t begin = first; begin < last; begin += kPairs) {
    const int64_t end = std::min(last, begin + kPairs);
    LoadPairs(edges, targets.pairs, p.heads, refined, begin, end, block.refined);
    Decode(p, tables, block);
    std::fill_n(block.upstream, kColumns, 0.0f);
    for (int64_t q = begin; q < end; ++q) {
      const float prediction = 0.5f * (block.predicted[q - begin] + block.predicted[kPairs + q - begin]);
      const float weight = targets.weights[q], difference = prediction - targets.distances[q];
      const float size = std::abs(difference);
      loss += weight * (size < 1 ? 0.5f * difference * difference : size - 0.5f);
      const float u = 0.5f * weight * per_weight * std::clamp(difference, -1.0f, 1.0f);
      block.upstream[q - begin] = block.upstream[kPairs + q - begin] = u;
      upstream += 2 * u;
    }
    DecodeBackward(p, tables, block, sums);
    const int32_t *forward = edges.pair_forward().data(), *backward = edges.pair_backward().data();
    PackedProduct(tables.by_head, p.heads, p.hidden, block.slopes, kColumns, Start::zero, tables.bias1,
                  block.d_refined);
    for (int64_t q = begin; q < end; ++q) {
      float* f = d_refined + forward[targets.pairs[q]] * p.heads;
      float* b = d_refined + backward[targets.pairs[q]] * p.heads;
      for (int64_t h = 0; h < p.heads; ++h) {
        const float* value = block.d_refined + h * kColumns + q - begin;
        f[h] = value[0];
        b[h] = b == f ? value[0] + value[kPairs] : value[kPairs];  // a pair may have one edge only
      }
    }
  }
  *sums.upstream = static_cast<float>(upstream);
  return loss;
}

}  // namespace
}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {
namespace {

HWY_EXPORT(FillDecoderTables);
HWY_EXPORT(PairLoss);

// Part `part` of the pairs: whole blocks.
std::pair<int64_t, int64_t> part_of_pairs(int64_t count, int64_t part) {
  const auto [first, last] = part_of((count + kPairs - 1) / kPairs, part, kPairParts);
  return {first * kPairs, std::min(count, last * kPairs)};
}

}  // namespace

double position_loss(const EdgeIndex& edges, const PositionDecoder& decoder, const PositionTargets& targets,
                     const float* refined, float* d_refined, const PositionDecoderGradients& gradients,
                     Threads threads) {
  double weight = 0;
  for (int64_t q = 0; q < targets.count; ++q) weight += targets.weights[q];
  const float per_weight = weight > 0 ? static_cast<float>(1 / weight) : 0.0f;

  const auto table_memory = hwy::AllocateAligned<float>(DecoderTables::size(decoder));
  DecoderTables tables(decoder, table_memory.get());
  HWY_DYNAMIC_DISPATCH(FillDecoderTables)(decoder, tables);
  const int64_t block_size = PairScratch::size(decoder), sums_size = DecoderSums::size(decoder);
  const auto block_memory = hwy::AllocateAligned<float>(block_size * threads.count);
  const auto sums_memory = hwy::AllocateAligned<float>(sums_size * kPairParts);
  double losses[kPairParts];
  for_row_ranges(edges.num_edges(), threads, [&](int64_t first, int64_t last) {
    std::fill(d_refined + first * decoder.heads, d_refined + last * decoder.heads, 0.0f);
  });
  const auto make_block = [&] { return PairScratch(decoder, block_memory.get() + omp_get_thread_num() * block_size); };
  for_parts(kPairParts, threads.count, 1, make_block, [&](int64_t part, const PairScratch& block) {
    float* memory = sums_memory.get() + part * sums_size;
    std::fill_n(memory, sums_size, 0.0f);
    const auto [first, last] = part_of_pairs(targets.count, part);
    losses[part] = HWY_DYNAMIC_DISPATCH(PairLoss)(edges, decoder, tables, block, targets, per_weight, refined, first,
                                                  last, d_refined, DecoderSums(decoder, memory));
  });
  double loss = 0;
  for (const double part : losses) loss += part;
  add_parts(sums_memory.get(), kPairParts, sums_size, threads);
  const DecoderSums sums(decoder, sums_memory.get());
  for (int64_t k = 0; k < decoder.hidden; ++k) {
    for (int64_t h = 0; h < decoder.heads; ++h)
      gradients.weight1[h * decoder.hidden + k] = sums.weight1[k * padded(decoder.heads) + h];
    gradients.bias1[k] = sums.bias1[k];
    gradients.norm_weight[k] = decoder.weight2[k] * sums.normed[k];
    gradients.norm_bias[k] = decoder.weight2[k] * *sums.upstream;
    gradients.weight2[k] = decoder.norm_weight[k] * sums.normed[k] + decoder.norm_bias[k] * *sums.upstream;
  }
  *gradients.bias2 = *sums.upstream;
  return weight > 0 ? loss / weight : 0.0;
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
