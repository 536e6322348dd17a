#include "graphpae/kernels/aggregate.h"

#include <omp.h>

#include <algorithm>

#include "graphpae/kernels/row_ranges.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/aggregate.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graphpae/kernels/columns-inl.h"
#include "graphpae/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {
namespace {

// Asks for the rows that come up kEdgesAhead edges later. `edges` is the length of the index.
template <int kWidth, int kCount>
HWY_INLINE void FetchRows(const float* rows, int64_t stride, const int32_t* index, int64_t at, int64_t edges) {
  constexpr int64_t kEdgesAhead = 16, kLine = 16;
  if (at + kEdgesAhead + kCount > edges) return;
#pragma GCC unroll 4
  for (int64_t q = 0; q < kCount; ++q) {
    const float* row = rows + index[at + kEdgesAhead + q] * stride;
#pragma GCC unroll 2
    for (int64_t c = 0; c < kWidth; c += kLine) __builtin_prefetch(row + c);
  }
}

// out[i] = bias + sum of weights[e] * rows[sources[e]] for targets [first, last); both have rows of kWidth floats.
template <int kWidth>
void GatherBlock(const int64_t* HWY_RESTRICT offsets, const int32_t* HWY_RESTRICT sources, int64_t edges,
                 const float* HWY_RESTRICT weights, const float* HWY_RESTRICT rows, int64_t stride,
                 const float* HWY_RESTRICT bias, float* HWY_RESTRICT out, int64_t out_stride, int64_t first,
                 int64_t last) {
  const Floats d;
  constexpr int64_t kVectors = kWidth / kLanes;
  // Several sums per column, since an addition to a sum waits for the one before.
  constexpr int64_t kSets = kVectors >= 8 ? 1 : kVectors >= 4 ? 2 : 4;
  for (int64_t i = first; i < last; ++i) {
    Vector sum[kSets][kVectors];
#pragma GCC unroll 16
    for (int64_t v = 0; v < kVectors; ++v) {
      sum[0][v] = hn::Load(d, bias + v * kLanes);
#pragma GCC unroll 4
      for (int64_t s = 1; s < kSets; ++s) sum[s][v] = hn::Zero(d);
    }
    const int64_t end = offsets[i + 1];
    int64_t e = offsets[i];
    for (; e + kSets <= end; e += kSets) {
      FetchRows<kWidth, kSets>(rows, stride, sources, e, edges);
#pragma GCC unroll 4
      for (int64_t s = 0; s < kSets; ++s) {
        const float* row = rows + sources[e + s] * stride;
        const auto weight = hn::Set(d, weights[e + s]);
#pragma GCC unroll 16
        for (int64_t v = 0; v < kVectors; ++v)
          sum[s][v] = hn::MulAdd(weight, hn::LoadU(d, row + v * kLanes), sum[s][v]);
      }
    }
    for (; e < end; ++e) {
      const float* row = rows + sources[e] * stride;
      const auto weight = hn::Set(d, weights[e]);
#pragma GCC unroll 16
      for (int64_t v = 0; v < kVectors; ++v) sum[0][v] = hn::MulAdd(weight, hn::LoadU(d, row + v * kLanes), sum[0][v]);
    }
#pragma GCC unroll 16
    for (int64_t v = 0; v < kVectors; ++v) {
      auto total = sum[0][v];
      if constexpr (kSets == 2) total = hn::Add(total, sum[1][v]);
      if constexpr (kSets == 4) total = hn::Add(hn::Add(total, sum[1][v]), hn::Add(sum[2][v], sum[3][v]));
      hn::StoreU(total, d, out + i * out_stride + v * kLanes);
    }
  }
}

// For sources j in [first, last): d_x[j] = sum of weights[s] * rows[targets[s]], and d_weights[s] (+)=
// <rows[targets[s]], x[j]>, over the slots s of edges out of j. One gathered row serves both.
template <int kWidth>
void GatherBlockBackward(const int64_t* HWY_RESTRICT out_offsets, const int32_t* HWY_RESTRICT targets, int64_t edges,
                         const float* HWY_RESTRICT weights, const float* HWY_RESTRICT rows, const float* HWY_RESTRICT x,
                         float* HWY_RESTRICT d_x, int64_t stride, bool add, float* HWY_RESTRICT d_weights,
                         int64_t first, int64_t last) {
  const Floats d;
  constexpr int64_t kVectors = kWidth / kLanes;
  constexpr int64_t kSets = kVectors >= 4 ? 1 : 2;
  for (int64_t j = first; j < last; ++j) {
    Vector sum[kSets][kVectors], mine[kVectors];
#pragma GCC unroll 16
    for (int64_t v = 0; v < kVectors; ++v) {
      mine[v] = hn::LoadU(d, x + j * stride + v * kLanes);
#pragma GCC unroll 2
      for (int64_t s = 0; s < kSets; ++s) sum[s][v] = hn::Zero(d);
    }
    const int64_t end = out_offsets[j + 1];
    int64_t slot = out_offsets[j];
    for (; slot + 4 <= end; slot += 4) {
      Vector dot[4];
      FetchRows<kWidth, 4>(rows, stride, targets, slot, edges);
#pragma GCC unroll 4
      for (int64_t q = 0; q < 4; ++q) {
        const float* row = rows + targets[slot + q] * stride;
        const auto weight = hn::Set(d, weights[slot + q]);
        dot[q] = hn::Zero(d);
#pragma GCC unroll 16
        for (int64_t v = 0; v < kVectors; ++v) {
          const auto g = hn::LoadU(d, row + v * kLanes);
          sum[q % kSets][v] = hn::MulAdd(weight, g, sum[q % kSets][v]);
          dot[q] = v == 0 ? hn::Mul(g, mine[v]) : hn::MulAdd(g, mine[v], dot[q]);
        }
      }
      float* to = d_weights + slot;
      if (add) {
        float sums[4];
        SumFour(d, dot[0], dot[1], dot[2], dot[3], sums);
        for (int64_t q = 0; q < 4; ++q) to[q] += sums[q];
      } else {
        SumFour(d, dot[0], dot[1], dot[2], dot[3], to);
      }
    }
    for (; slot < end; ++slot) {
      const float* row = rows + targets[slot] * stride;
      const auto weight = hn::Set(d, weights[slot]);
      auto dot = hn::Zero(d);
#pragma GCC unroll 16
      for (int64_t v = 0; v < kVectors; ++v) {
        const auto g = hn::LoadU(d, row + v * kLanes);
        sum[0][v] = hn::MulAdd(weight, g, sum[0][v]);
        dot = hn::MulAdd(g, mine[v], dot);
      }
      d_weights[slot] = SumLanes(d, dot) + (add ? d_weights[slot] : 0.0f);
    }
#pragma GCC unroll 16
    for (int64_t v = 0; v < kVectors; ++v) {
      auto total = sum[0][v];
      if constexpr (kSets == 2) total = hn::Add(total, sum[1][v]);
      hn::StoreU(total, d, d_x + j * stride + v * kLanes);
    }
  }
}

void Gather(int64_t width, const int64_t* offsets, const int32_t* sources, int64_t edges, const float* weights,
            const float* rows, int64_t stride, const float* bias, float* out, int64_t out_stride, int64_t first,
            int64_t last) {
  const auto run = width == 32 ? GatherBlock<32> : GatherBlock<16>;
  run(offsets, sources, edges, weights, rows, stride, bias, out, out_stride, first, last);
}

void GatherBackward(int64_t width, const int64_t* out_offsets, const int32_t* targets, int64_t edges,
                    const float* weights, const float* rows, const float* x, float* d_x, int64_t stride, bool add,
                    float* d_weights, int64_t first, int64_t last) {
  const auto run = width == 32 ? GatherBlockBackward<32> : GatherBlockBackward<16>;
  run(out_offsets, targets, edges, weights, rows, x, d_x, stride, add, d_weights, first, last);
}

// Asks for a row some rows before it is read (kWrite 0) or written (1): rows lie on different pages, across which the
// processor does not fetch ahead by itself.
template <int kWrite>
HWY_INLINE void FetchAhead(const float* x, int64_t stride, int64_t columns, int64_t row, int64_t last) {
  constexpr int64_t kRowsAhead = 16, kLine = 16;
  const float* ahead = x + std::min(row + kRowsAhead, last - 1) * stride;
  for (int64_t c = 0; c < columns; c += kLine) __builtin_prefetch(ahead + c, kWrite);
}

// Between rows of x, `stride` apart, and packed blocks, [blocks][nodes][width], for columns [0, columns) of rows
// [first, last). What a last block has beyond the columns is zero.
void Pack(const float* HWY_RESTRICT x, int64_t stride, int64_t columns, int64_t nodes, int64_t width,
          float* HWY_RESTRICT packed, int64_t first, int64_t last) {
  const Floats d;
  for (int64_t r = first; r < last; ++r) {
    FetchAhead<0>(x, stride, columns, r, last);
    for (int64_t column = 0; column < columns; column += width) {
      const float* from = x + r * stride + column;
      float* to = packed + (column / width * nodes + r) * width;
      if (columns - column < width) {
        std::fill(std::copy_n(from, columns - column, to), to + width, 0.0f);
        continue;
      }
      for (int64_t c = 0; c < width; c += kLanes) hn::Store(hn::LoadU(d, from + c), d, to + c);
    }
  }
}

void Unpack(const float* HWY_RESTRICT packed, int64_t nodes, int64_t width, float* HWY_RESTRICT x, int64_t stride,
            int64_t columns, int64_t first, int64_t last) {
  const Floats d;
  for (int64_t r = first; r < last; ++r) {
    FetchAhead<1>(x, stride, columns, r, last);
    for (int64_t column = 0; column < columns; column += width) {
      const float* from = packed + (column / width * nodes + r) * width;
      float* to = x + r * stride + column;
      if (columns - column < width) {
        std::copy_n(from, columns - column, to);
        continue;
      }
      for (int64_t c = 0; c < width; c += kLanes) hn::StoreU(hn::Load(d, from + c), d, to + c);
    }
  }
}

inline constexpr int64_t kDropElements = 1024;  // hashed at once, in a buffer on the stack

// Elements of edges [first, last), with the decisions of dropout.h.
void DropEdges(const Dropout& dropout, int64_t heads, const float* alpha, float* weights, int64_t first, int64_t last) {
  const Floats d;
  const hn::RebindToUnsigned<Floats> du;
  HWY_ALIGN uint32_t hashes[kDropElements];
  const auto scale = hn::Set(d, dropout.scale());
  const int64_t edges_at_once = std::max<int64_t>(1, kDropElements / heads);
  for (int64_t begin = first; begin < last; begin += edges_at_once) {
    const int64_t end = std::min(last, begin + edges_at_once), count = (end - begin) * heads;
    for (int64_t e = begin; e < end; ++e) {
      const uint32_t row = dropout_row_hash(dropout, e);
      uint32_t* to = hashes + (e - begin) * heads;
      for (int64_t h = 0; h < heads; ++h) to[h] = row + static_cast<uint32_t>(h) * kDropoutStep;
    }
    const float* from = alpha + begin * heads;
    float* to = weights + begin * heads;
    int64_t k = 0;
    for (; k + kLanes <= count; k += kLanes) {
      const auto keep = hn::RebindMask(d, Kept(du, hn::Load(du, hashes + k), dropout.threshold()));
      hn::StoreU(hn::IfThenElseZero(keep, hn::Mul(hn::LoadU(d, from + k), scale)), d, to + k);
    }
    for (; k < count; ++k) to[k] = mix_bits(hashes[k]) < dropout.threshold() ? 0.0f : from[k] * dropout.scale();
  }
}

}  // namespace
}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {
namespace {

HWY_EXPORT(Gather);
HWY_EXPORT(GatherBackward);
HWY_EXPORT(Pack);
HWY_EXPORT(Unpack);
HWY_EXPORT(DropEdges);

// Into how many parts of the nodes a task is cut so that all threads have work. Each part packs its columns again.
int64_t parts_of_task(int64_t tasks, Threads threads) {
  if (tasks >= 4 * threads.count || (tasks > 0 && tasks % threads.count == 0)) return 1;
  return (2 * threads.count + tasks - 1) / std::max<int64_t>(1, tasks);
}

constexpr int64_t kMaxWidth = 32;
constexpr int64_t kManyNodes = int64_t{1} << 16;   // beyond, a group is one block, to save memory
constexpr int64_t kMostPacked = int64_t{1} << 19;  // nodes: beyond, a block of columns is in no cache and takes 64 MB

}  // namespace

// Blocks of 32 columns were faster than of 16, also where only the latter fit in the second-level cache (5201 nodes,
// 512 KB), and than of 64: fewer passes over the edges, and two adjacent cache lines for each.
AggregateBlocks choose_blocks(int64_t nodes, int64_t columns) {
  AggregateBlocks blocks;
  if (columns <= 16) blocks.width = 16;
  if (columns <= blocks.width || nodes > kManyNodes) blocks.group = blocks.width;
  blocks.packed = nodes <= kMostPacked;
  return blocks;
}

void drop_edge_weights(const Dropout& dropout, int64_t num_edges, int64_t heads, const float* alpha, float* weights,
                       Threads threads) {
  const int64_t parts = 4 * threads.count;
  for_parts(parts, threads.count, [&](int64_t part) {
    const auto [first, last] = part_of(num_edges, part, parts);
    if (dropout.active()) {
      HWY_DYNAMIC_DISPATCH(DropEdges)(dropout, heads, alpha, weights, first, last);
    } else if (alpha != weights) {
      std::copy(alpha + first * heads, alpha + last * heads, weights + first * heads);
    }
  });
}

void aggregate_forward(const EdgeIndex& edges, int64_t heads, int64_t columns, const float* weights, const float* x,
                       const float* bias, float* out, Workspace& workspace, Threads threads,
                       std::optional<AggregateBlocks> wish) {
  const AggregateBlocks blocks = wish ? *wish : choose_blocks(edges.num_nodes(), columns);
  const int64_t n = edges.num_nodes(), num_edges = edges.num_edges(), stride = heads * columns, w = blocks.width;
  const int64_t groups = (columns + blocks.group - 1) / blocks.group;  // of a head
  const int64_t parts = parts_of_task(heads * groups, threads);
  const int64_t group_size = blocks.packed || columns % blocks.width != 0 ? n * blocks.group : 0;
  float* by_head = heads == 1 ? nullptr : workspace.weights.reserve(heads * num_edges);
  float* scratch = workspace.groups.reserve(threads.count * 2 * group_size);
#pragma omp parallel num_threads(threads.count)
  {
    flush_denormals();
#pragma omp for schedule(static)
    for (int64_t e = 0; e < (heads > 1 ? num_edges : 0); ++e) {
      for (int64_t h = 0; h < heads; ++h) by_head[h * num_edges + e] = weights[e * heads + h];
    }
    float *packed_x = scratch + omp_get_thread_num() * 2 * group_size, *packed_out = packed_x + group_size;
#pragma omp for schedule(dynamic, 1)
    for (int64_t task = 0; task < heads * groups * parts; ++task) {
      const int64_t part = task % parts, group = task / parts % groups, head = task / parts / groups;
      const int64_t column = head * columns + group * blocks.group;
      const int64_t width = std::min(blocks.group, columns - group * blocks.group);
      const int64_t first = part_begin(edges.offsets(), part, parts);
      const int64_t last = part_begin(edges.offsets(), part + 1, parts);
      const bool packed = blocks.packed || width % w != 0;
      if (packed) HWY_DYNAMIC_DISPATCH(Pack)(x + column, stride, width, n, w, packed_x, 0, n);
      for (int64_t within = 0; within < width; within += w) {
        alignas(64) float start[kMaxWidth] = {};
        if (bias != nullptr) std::copy_n(bias + column + within, std::min(w, width - within), start);
        HWY_DYNAMIC_DISPATCH(Gather)
        (w, edges.offsets().data(), edges.sources().data(), num_edges,
         heads == 1 ? weights : by_head + head * num_edges, packed ? packed_x + within * n : x + column + within,
         packed ? w : stride, start, packed ? packed_out + within * n : out + column + within, packed ? w : stride,
         first, last);
      }
      if (packed) HWY_DYNAMIC_DISPATCH(Unpack)(packed_out, n, w, out + column, stride, width, first, last);
    }
  }
}

void aggregate_backward(const EdgeIndex& edges, int64_t heads, int64_t columns, const float* weights, const float* x,
                        const float* d_out, float* d_x, float* d_weights, Workspace& workspace, Threads threads,
                        std::optional<AggregateBlocks> wish) {
  const AggregateBlocks blocks = wish ? *wish : choose_blocks(edges.num_nodes(), columns);
  const int64_t n = edges.num_nodes(), num_edges = edges.num_edges(), stride = heads * columns, w = blocks.width;
  // The groups of a head follow each other in one task, so that a gradient of a weight is summed in one order.
  const int64_t parts = parts_of_task(heads, threads),
                group_size = blocks.packed || columns % blocks.width != 0 ? n * blocks.group : 0;
  const int32_t *out_edges = edges.out_edges().data(), *edge_targets = edges.targets().data();
  float* by_head = workspace.weights.reserve(heads * num_edges);
  float* d_by_head = workspace.d_weights.reserve(heads * num_edges);
  int32_t* targets = workspace.out_targets.reserve(num_edges);
  float* scratch = workspace.groups.reserve(threads.count * 3 * group_size);
#pragma omp parallel num_threads(threads.count)
  {
    flush_denormals();
#pragma omp for schedule(static)
    for (int64_t slot = 0; slot < num_edges; ++slot) {
      const int64_t e = out_edges[slot];
      targets[slot] = edge_targets[e];
      for (int64_t h = 0; h < heads; ++h) by_head[h * num_edges + slot] = weights[e * heads + h];
    }
    float* packed_d_out = scratch + omp_get_thread_num() * 3 * group_size;
    float *packed_x = packed_d_out + group_size, *packed_d_x = packed_x + group_size;
#pragma omp for schedule(dynamic, 1)
    for (int64_t task = 0; task < heads * parts; ++task) {
      const int64_t head = task / parts, part = task % parts;
      const int64_t first = part_begin(edges.out_offsets(), part, parts);
      const int64_t last = part_begin(edges.out_offsets(), part + 1, parts);
      for (int64_t at = 0; at < columns; at += blocks.group) {
        const int64_t column = head * columns + at, width = std::min(blocks.group, columns - at);
        const bool packed = blocks.packed || width % w != 0;
        if (packed) {
          HWY_DYNAMIC_DISPATCH(Pack)(d_out + column, stride, width, n, w, packed_d_out, 0, n);
          HWY_DYNAMIC_DISPATCH(Pack)(x + column, stride, width, n, w, packed_x, first, last);
        }
        for (int64_t within = 0; within < width; within += w) {
          const int64_t block = packed ? within * n : column + within;
          HWY_DYNAMIC_DISPATCH(GatherBackward)
          (w, edges.out_offsets().data(), targets, num_edges, by_head + head * num_edges,
           (packed ? packed_d_out : d_out) + block, (packed ? packed_x : x) + block,
           (packed ? packed_d_x : d_x) + block, packed ? w : stride, at + within > 0, d_by_head + head * num_edges,
           first, last);
        }
        if (packed) HWY_DYNAMIC_DISPATCH(Unpack)(packed_d_x, n, w, d_x + column, stride, width, first, last);
      }
    }
#pragma omp for schedule(static)
    for (int64_t slot = 0; slot < num_edges; ++slot) {
      for (int64_t h = 0; h < heads; ++h) d_weights[out_edges[slot] * heads + h] = d_by_head[h * num_edges + slot];
    }
  }
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
