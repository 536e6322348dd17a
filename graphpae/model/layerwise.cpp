#include "graphpae/model/layerwise.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <memory>

#include "graphpae/core/error.h"
#include "graphpae/io/row_store.h"
#include "graphpae/kernels/target_attention.h"
#include "graphpae/model/gat_encoder.h"
#include "graphpae/ops/dense_ops.h"
#include "graphpae/ops/feature_ops.h"
#include "graphpae/positions/relative_distances.h"

namespace graphpae {
namespace {

constexpr int64_t kBlockRows = 8192, kBlockEdges = int64_t{1} << 20;

// Bytes of [rows, columns] float32.
int64_t table_bytes(int64_t rows, int64_t columns) { return rows * columns * 4; }

// How the work is divided.
struct Plan {
  int64_t heads_at_once;
  bool store_in_memory;
};

Plan make_plan(int64_t nodes, const Settings& settings, int64_t memory) {
  int64_t heads = settings.heads;
  while (heads > 0 && layerwise_bytes(nodes, settings, heads) > memory) --heads;
  if (heads == 0) {
    throw memory_error(fmt::format("embedding needs at least {:.2f} GB, {:.2f} GB may be used",
                                   static_cast<double>(layerwise_bytes(nodes, settings, 1)) / 1e9,
                                   static_cast<double>(memory) / 1e9));
  }
  const int64_t states = table_bytes(nodes, settings.width);
  return {heads, layerwise_bytes(nodes, settings, settings.heads) + states <= memory};
}

// Targets [first, last) and the edges into them, a self loop each.
struct TargetBlock {
  int64_t first = 0, last = 0;
  std::vector<int64_t> offsets{0};
  std::vector<int32_t> sources, targets;
  std::vector<float> weights;  // of the edges, if they have any
};

TargetBlock block_from(const Adjacency& adjacency, int64_t first) {
  TargetBlock block;
  block.first = block.last = first;
  while (block.last < adjacency.num_nodes() && block.last - first < kBlockRows) {
    const int64_t i = block.last, degree = adjacency.degree(i);
    if (i > first && static_cast<int64_t>(block.sources.size()) + degree + 1 > kBlockEdges) break;
    const auto row = adjacency.row(i);
    block.sources.push_back(static_cast<int32_t>(i));
    std::copy_if(row.begin(), row.end(), std::back_inserter(block.sources), [i](int32_t j) { return j != i; });
    block.targets.resize(block.sources.size(), static_cast<int32_t>(i));
    block.offsets.push_back(static_cast<int64_t>(block.sources.size()));
    ++block.last;
  }
  return block;
}

class Layerwise {
 public:
  Layerwise(Model& model, const PreparedGraph& graph, int64_t memory, const RowProgress& progress)
      : settings_(model.settings()),
        encoder_(dynamic_cast<GatEncoder&>(*model.encoder)),
        graph_(graph),
        progress_(progress),
        nodes_(graph.graph->num_nodes()),
        plan_(make_plan(nodes_, settings_, memory)),
        source_sums_(torch::zeros({nodes_, settings_.heads})),
        target_sums_(torch::zeros({nodes_, settings_.heads})) {}

  void run(const RowSink& sink) {
    const size_t layers = encoder_.layers().size();
    for (size_t l = 0; l < layers; ++l) {
      const bool last = l + 1 == layers;
      // The last layer's rows go out at once unless they come in parts.
      const bool straight = last && plan_.heads_at_once == settings_.heads;
      const int64_t part_columns = settings_.width / settings_.heads * plan_.heads_at_once;
      auto made =
          straight ? nullptr : std::make_unique<RowStore>(nodes_, settings_.width, part_columns, plan_.store_in_memory);
      for (int64_t head = 0; head < settings_.heads; head += plan_.heads_at_once)
        run_heads(l, head, std::min(plan_.heads_at_once, settings_.heads - head), made.get(), sink);
      states_ = std::move(made);
    }
    if (states_ == nullptr) return;
    for_row_blocks([&](int64_t first, int64_t count) {
      const torch::Tensor rows = state_rows(first, count);
      sink(first, count, rows.data_ptr<float>());
    });
  }

 private:
  template <class Body>
  void for_row_blocks(const Body& body) const {
    for (int64_t first = 0; first < nodes_; first += kBlockRows) body(first, std::min(kBlockRows, nodes_ - first));
  }

  torch::Tensor state_rows(int64_t first, int64_t count) const {
    torch::Tensor rows = torch::empty({count, settings_.width});
    states_->read(first, count, rows.data_ptr<float>());
    return rows;
  }

  // x W for rows of the layer's input. weight [in,width]
  torch::Tensor project(size_t layer, int64_t first, int64_t count, const torch::Tensor& weight) const {
    if (layer > 0) return ops::linear(state_rows(first, count), weight, {}, graph_.threads);
    return ops::corrupted_product(*graph_.features, row_range(first, count), encoder_.mask_token, weight, {},
                                  graph_.threads);
  }

  void add_weights(TargetBlock& block) const {
    if (!graph_.weights) return;
    for (size_t e = 0; e < block.sources.size(); ++e)
      block.weights.push_back((*graph_.weights)(block.sources[e], block.targets[e]));
  }

  // P^(0) of the edges of a block [S,H]; undefined without positions.
  torch::Tensor embed_distances(const TargetBlock& block) const {
    if (!graph_.positions.defined()) return {};
    const PositionTable table{{graph_.positions.data_ptr<double>(), static_cast<size_t>(graph_.positions.numel())},
                              graph_.positions.size(1)};
    return encoder_.distance->embed_values(relative_distances(table, {block.sources, block.targets}, graph_.threads),
                                           graph_.threads);
  }

  // Positions carry the logits of all layers so far; without positions a layer has its own only.
  void add_logits(torch::Tensor& sums, int64_t row, int64_t head, const torch::Tensor& logits) const {
    torch::Tensor part = sums.narrow(0, row, logits.size(0)).narrow(1, head, logits.size(1));
    if (!graph_.positions.defined()) part.zero_();
    part.add_(logits);
  }

  // `count` heads of a layer from head `first_head` on, into `made` or the sink.
  void run_heads(size_t l, int64_t first_head, int64_t count, RowStore* made, const RowSink& sink) {
    const GatLayerImpl& layer = *encoder_.layers()[l];
    const int64_t columns = settings_.width / settings_.heads, width = count * columns,
                  first_column = first_head * columns;
    const torch::Tensor weight = layer.weight.narrow(1, first_column, width).contiguous(),
                        bias = layer.bias.narrow(0, first_column, width).contiguous(),
                        source = layer.attention_source.narrow(0, first_head, count).contiguous(),
                        target = layer.attention_target.narrow(0, first_head, count).contiguous();
    torch::Tensor z = torch::empty({nodes_, width});
    for_row_blocks([&](int64_t first, int64_t rows) {
      const torch::Tensor part = project(l, first, rows, weight);
      z.narrow(0, first, rows).copy_(part);
      const auto [s, t] = ops::head_logits(part, source, target, graph_.threads);
      add_logits(source_sums_, first, first_head, s);
      add_logits(target_sums_, first, first_head, t);
    });
    const torch::Tensor source_logits = source_sums_.narrow(1, first_head, count).contiguous();
    for (int64_t first = 0; first < nodes_;) {
      TargetBlock block = block_from(graph_.graph->adjacency(), first);
      const int64_t rows = block.last - block.first;
      add_weights(block);
      const torch::Tensor positions = embed_distances(block);
      const torch::Tensor target_logits = target_sums_.narrow(0, first, rows).narrow(1, first_head, count).contiguous();
      torch::Tensor out = torch::empty({rows, width});
      const kernels::GatherAttention attention{count,
                                               columns,
                                               static_cast<float>(settings_.negative_slope),
                                               z.data_ptr<float>(),
                                               source_logits.data_ptr<float>(),
                                               target_logits.data_ptr<float>(),
                                               positions.defined() ? positions.data_ptr<float>() + first_head : nullptr,
                                               settings_.heads,
                                               bias.data_ptr<float>(),
                                               block.weights.empty() ? nullptr : block.weights.data()};
      kernels::gather_attention({block.offsets, block.sources}, attention, out.data_ptr<float>(), graph_.threads);
      if (encoder_.activates(l)) out = encoder_.activated(out, l).contiguous();
      if (made != nullptr) {
        made->write(first_head / plan_.heads_at_once, first, rows, out.data_ptr<float>());
      } else {
        sink(first, rows, out.data_ptr<float>());
      }
      first = block.last;
      done_ += rows;
      if (progress_) progress_(done_, nodes_ * rounds());
    }
  }

  int64_t rounds() const {
    const int64_t groups = (settings_.heads + plan_.heads_at_once - 1) / plan_.heads_at_once;
    return groups * static_cast<int64_t>(encoder_.layers().size());
  }

  const Settings& settings_;
  GatEncoder& encoder_;
  const PreparedGraph& graph_;
  const RowProgress& progress_;
  int64_t nodes_;
  Plan plan_;
  torch::Tensor source_sums_, target_sums_;  // [N,H] logits of nodes, of the layers up to the one at work
  std::unique_ptr<RowStore> states_;         // [N,d_h] what the layer before made
  int64_t done_ = 0;
};

}  // namespace

bool can_embed_layerwise(const Model& model) {
  const Settings& s = model.settings();
  return s.encoder == EncoderKind::gat && s.attention == Attention::released && !s.feature_mlp;
}

int64_t layerwise_bytes(int64_t nodes, const Settings& settings, int64_t heads_at_once) {
  const int64_t z = table_bytes(nodes, settings.width / settings.heads * heads_at_once);
  const int64_t logits = 2 * table_bytes(nodes, settings.heads) + table_bytes(nodes, heads_at_once);
  const int64_t blocks = 4 * table_bytes(kBlockRows, settings.width) + kBlockEdges * (24 + 8 * settings.heads);
  return z + logits + blocks;
}

void embed_layerwise(Model& model, const PreparedGraph& graph, int64_t memory, const RowSink& sink,
                     const RowProgress& progress) {
  const torch::NoGradGuard no_grad;
  model.eval();
  Layerwise(model, graph, memory, progress).run(sink);
}

}  // namespace graphpae
