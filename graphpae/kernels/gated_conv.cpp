#include "graphpae/kernels/gated_conv.h"

#include <algorithm>
#include <vector>

#include "graphpae/kernels/row_ranges.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "graphpae/kernels/gated_conv.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "graphpae/kernels/columns-inl.h"
#include "graphpae/kernels/vector_math-inl.h"

HWY_BEFORE_NAMESPACE();
namespace graphpae::kernels::HWY_NAMESPACE {

constexpr float kEpsilon = 1e-6f;

template <class D, class V = hn::Vec<D>>
HWY_INLINE V Sigmoid(D d, V x) {
  const auto one = hn::Set(d, 1.0f);
  return hn::Div(one, hn::Add(one, Exp(d, hn::Neg(x))));
}

// The rows of one edge.
struct ForwardEdge {
  const float *a2, *b2, *c, *p;
  float *gate, *hat, *refined;
  uint32_t hash;  // of its dropout
};

void ConvolveNode(const GatedGraph& graph, const GatedTerms& terms, RowKeeper& keeper,
                  const std::vector<ForwardEdge>& edges, int64_t i, float* nodes) {
  const int64_t width = graph.width;
  const float* own = terms.nodes.row(i);
  const float *a1 = own, *b1 = own + 2 * width;
  float* out = nodes + i * width;
  const float scale = graph.scale[i];
  for_elements(0, width, [&](auto d, int64_t j) HWY_ATTR {
    const auto own_b = hn::LoadU(d, b1 + j);
    auto sum = hn::Zero(d), total = hn::Set(d, kEpsilon);
    for (const ForwardEdge& edge : edges) {
      const auto hat = hn::Add(hn::Add(own_b, hn::LoadU(d, edge.b2 + j)), hn::LoadU(d, edge.c + j));
      const auto refined = edge.p == nullptr ? hat : hn::Add(hat, hn::LoadU(d, edge.p + j));
      const auto gate = Sigmoid(d, refined);
      total = hn::Add(total, gate);
      sum = hn::MulAdd(gate, hn::LoadU(d, edge.a2 + j), sum);
      hn::StoreU(gate, d, edge.gate + j);
      if (edge.hat != nullptr) hn::StoreU(hat, d, edge.hat + j);
      if (edge.refined == nullptr) continue;
      keeper.start_hash(edge.hash);
      hn::StoreU(keeper.drop(d, j, refined), d, edge.refined + j);
    }
    const auto mean = hn::Div(sum, total);
    hn::StoreU(hn::Mul(hn::Add(hn::LoadU(d, a1 + j), mean), hn::Set(d, scale)), d, out + j);
  });
}

void ConvolveBlock(const GatedGraph& graph, const GatedTerms& terms, const Dropout& dropout, float* gates,
                   int64_t first, int64_t last, float* nodes, float* hat, float* refined) {
  const EdgeIndex& index = graph.edges;
  const int64_t width = graph.width;
  std::vector<ForwardEdge> edges;
  RowKeeper keeper(dropout);
  for (int64_t i = first; i < last; ++i) {
    edges.clear();
    for (int64_t e = index.offsets()[i]; e < index.offsets()[i + 1]; ++e) {
      const float* source = terms.nodes.row(index.sources()[e]);
      edges.push_back({source + width, source + 3 * width, terms.edges.row(e),
                       terms.positions.data == nullptr ? nullptr : terms.positions.row(e), gates + e * width,
                       hat == nullptr ? nullptr : hat + e * width, refined == nullptr ? nullptr : refined + e * width,
                       dropout_row_hash(dropout, e)});
    }
    ConvolveNode(graph, terms, keeper, edges, i, nodes);
  }
}

struct BackwardEdge {
  const float *a2, *gate, *d_hat, *d_refined;
  float *d_a2, *d_b2, *d_c, *d_p;
  uint32_t hash;
};

void ConvolveNodeBackward(const GatedGraph& graph, RowKeeper& keeper, const std::vector<BackwardEdge>& edges, int64_t i,
                          const float* d_nodes, float* d_own, bool adds) {
  const int64_t width = graph.width;
  const float* d_out = d_nodes == nullptr ? nullptr : d_nodes + i * width;
  float *d_a1 = d_own, *d_b1 = d_nodes == nullptr ? d_own : d_own + 2 * width;
  const float scale = graph.scale[i];
  for_elements(0, width, [&](auto d, int64_t j) HWY_ATTR {
    auto share = hn::Zero(d), mean = hn::Zero(d), own = hn::Zero(d);
    if (d_out != nullptr) {
      const auto gradient = hn::Mul(hn::LoadU(d, d_out + j), hn::Set(d, scale));
      hn::StoreU(gradient, d, d_a1 + j);
      // As in the forward pass: cheaper than to keep them.
      auto sum = hn::Zero(d), total = hn::Set(d, kEpsilon);
      for (const BackwardEdge& edge : edges) {
        const auto gate = hn::LoadU(d, edge.gate + j);
        total = hn::Add(total, gate);
        sum = hn::MulAdd(gate, hn::LoadU(d, edge.a2 + j), sum);
      }
      share = hn::Div(gradient, total);
      mean = hn::Div(sum, total);
    }
    for (const BackwardEdge& edge : edges) {
      auto gradient = hn::Zero(d);
      if (d_out != nullptr) {
        const auto gate = hn::LoadU(d, edge.gate + j);
        const auto slope = hn::NegMulAdd(gate, gate, gate);
        gradient = hn::Mul(hn::Mul(share, hn::Sub(hn::LoadU(d, edge.a2 + j), mean)), slope);
        hn::StoreU(hn::MulAdd(share, gate, hn::LoadU(d, edge.d_a2 + j)), d, edge.d_a2 + j);
      }
      if (edge.d_refined != nullptr) {
        keeper.start_hash(edge.hash);
        gradient = hn::Add(gradient, keeper.drop(d, j, hn::LoadU(d, edge.d_refined + j)));
      }
      if (edge.d_p != nullptr)
        hn::StoreU(adds ? hn::Add(gradient, hn::LoadU(d, edge.d_p + j)) : gradient, d, edge.d_p + j);
      if (edge.d_hat != nullptr) gradient = hn::Add(gradient, hn::LoadU(d, edge.d_hat + j));
      hn::StoreU(gradient, d, edge.d_c + j);
      hn::StoreU(hn::Add(hn::LoadU(d, edge.d_b2 + j), gradient), d, edge.d_b2 + j);
      own = hn::Add(own, gradient);
    }
    hn::StoreU(own, d, d_b1 + j);
  });
}

void ConvolveBlockBackward(const GatedGraph& graph, const GatedSaved& saved, const Dropout& dropout, int64_t first,
                           int64_t last, const float* d_nodes, const float* d_hat, const float* d_refined,
                           float* d_node_terms, float* d_edge_terms, float* d_positions) {
  const EdgeIndex& index = graph.edges;
  const int64_t width = graph.width;
  const int32_t* map = saved.position_map;
  const bool all = d_nodes != nullptr;
  const int64_t stride = (all ? 4 : 2) * width, a2 = width, b2 = stride - width;
  for (int64_t i = first; i < last; ++i) {
    float* row = d_node_terms + i * stride;
    if (all) std::fill_n(row + a2, width, 0.0f);
    std::fill_n(row + b2, width, 0.0f);
  }
  std::vector<BackwardEdge> edges;
  RowKeeper keeper(dropout);
  for (int64_t i = first; i < last; ++i) {
    edges.clear();
    for (int64_t e = index.offsets()[i]; e < index.offsets()[i + 1]; ++e) {
      const int32_t source = index.sources()[e];
      float* d_source = d_node_terms + source * stride;
      edges.push_back({saved.a2.row(source), saved.gates + e * width, d_hat == nullptr ? nullptr : d_hat + e * width,
                       d_refined == nullptr ? nullptr : d_refined + e * width, d_source + a2, d_source + b2,
                       d_edge_terms + e * width,
                       d_positions == nullptr ? nullptr : d_positions + (map == nullptr ? e : map[e]) * width,
                       dropout_row_hash(dropout, e)});
    }
    ConvolveNodeBackward(graph, keeper, edges, i, d_nodes, d_node_terms + i * stride, map != nullptr);
  }
}

// The columns [begin, end) of all rows.
void SumSharedRows(const float* rows, const int32_t* map, int64_t row_count, int64_t width, int64_t begin, int64_t end,
                   float* sums) {
  for (int64_t x = 0; x < row_count; ++x) {
    const float* row = rows + x * width;
    float* sum = sums + int64_t{map[x]} * width;
    for_elements(begin, end, [&](auto d, int64_t j) HWY_ATTR {
      hn::StoreU(hn::Add(hn::LoadU(d, sum + j), hn::LoadU(d, row + j)), d, sum + j);
    });
  }
}

}  // namespace graphpae::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace graphpae::kernels {
namespace {

HWY_EXPORT(ConvolveBlock);
HWY_EXPORT(ConvolveBlockBackward);
HWY_EXPORT(SumSharedRows);

// Runs body(first, last) for the nodes of every block.
template <class Body>
void for_blocks(const GatedGraph& graph, Threads threads, const Body& body) {
  const int64_t blocks = static_cast<int64_t>(graph.blocks.size()) - 1;
  for_parts(blocks, threads.count, [&](int64_t g) { body(graph.blocks[g], graph.blocks[g + 1]); });
}

}  // namespace

void gated_conv(const GatedGraph& graph, const GatedTerms& terms, const Dropout& dropout, float* gates, float* nodes,
                float* hat, float* refined, Threads threads) {
  for_blocks(graph, threads, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(ConvolveBlock)(graph, terms, dropout, gates, first, last, nodes, hat, refined);
  });
}

void gated_conv_backward(const GatedGraph& graph, const GatedSaved& saved, const Dropout& dropout, const float* d_nodes,
                         const float* d_hat, const float* d_refined, float* d_node_terms, float* d_edge_terms,
                         float* d_positions, Threads threads) {
  for_blocks(graph, threads, [&](int64_t first, int64_t last) {
    HWY_DYNAMIC_DISPATCH(ConvolveBlockBackward)
    (graph, saved, dropout, first, last, d_nodes, d_hat, d_refined, d_node_terms, d_edge_terms, d_positions);
  });
}

void sum_shared_rows(const float* rows, const int32_t* map, int64_t row_count, int64_t width, float* sums,
                     int64_t count, Threads threads) {
  std::fill_n(sums, count * width, 0.0f);
  constexpr int64_t kColumns = 64;  // one thread adds all rows of so many columns, in order
  const int64_t parts = (width + kColumns - 1) / kColumns;
  for_parts(parts, threads.count, [&](int64_t part) {
    HWY_DYNAMIC_DISPATCH(SumSharedRows)
    (rows, map, row_count, width, part * kColumns, std::min(width, (part + 1) * kColumns), sums);
  });
}

}  // namespace graphpae::kernels
#endif  // HWY_ONCE
