#include "graphpae/model/gat_encoder.h"

#include <torch/torch.h>

#include "graphpae/ops/attention_ops.h"
#include "graphpae/ops/dense_ops.h"
#include "graphpae/ops/feature_ops.h"

namespace graphpae {
namespace {

constexpr double kFirstSlope = 0.25;  // of PReLU

}  // namespace

GatEncoder::GatEncoder(const Settings& settings, int64_t feature_count, Initialiser& init) : settings_(settings) {
  mask_token = register_parameter("mask_token", torch::zeros({feature_count}));
  if (settings.use_positions) distance = register_module("distance", DistanceEmbedding(settings, settings.heads, init));
  int64_t in = feature_count;
  if (settings.feature_mlp) {
    lift_in_ = register_module("lift_in", Linear(in, settings.width, init));
    lift_out_ = register_module("lift_out", Linear(settings.width, settings.width, init));
    in = settings.width;
  }
  input_parameters = parameters();
  for (int64_t l = 0; l < settings.layers; ++l) {
    layers_.push_back(register_module("layer" + std::to_string(l), GatLayer(settings, in, init)));
    in = settings.width;
  }
  for (size_t l = 0; settings.activation == Activation::prelu && l < layers_.size(); ++l) {
    if (activates(l)) slopes_.push_back(register_parameter("slope" + std::to_string(l), torch::full({1}, kFirstSlope)));
  }
}

// Eq. (1): masked nodes show the token or another node's row.
torch::Tensor GatEncoder::shown_features(const GraphInput& input, const Pass& pass) const {
  const torch::Tensor& x = input.features.dense();
  if (pass.hidden == nullptr) return x;
  const torch::Tensor shown = torch::tensor(pass.hidden->shown, torch::kInt64);
  const torch::Tensor is_token = (shown == kMaskToken).unsqueeze(1);
  return torch::where(is_token, mask_token.unsqueeze(0), x.index_select(0, shown.clamp_min(0)));
}

torch::Tensor GatEncoder::activated(const torch::Tensor& x, size_t layer) const {
  if (settings_.activation == Activation::prelu) return torch::prelu(x, slopes_[layer]);
  return activate(x, settings_.activation == Activation::automatic ? Activation::elu : settings_.activation);
}

// x W of the first layer. Fused: sparse features stay sparse, and the token is multiplied once.
torch::Tensor GatEncoder::project_features(const GraphInput& input, const Pass& pass, const torch::Tensor& weight,
                                           const kernels::Dropout& dropped) const {
  if (!input.fused()) return torch::mm(dropout(shown_features(input, pass), dropped), weight);
  return ops::corrupted_product(*input.features.matrix(),
                                pass.hidden == nullptr ? row_range(0, input.num_nodes()) : pass.hidden->shown,
                                mask_token, weight, dropped, input.threads);
}

// dropout(activation(x)) W of a later layer, in two steps because a layer may do without the product.
torch::Tensor GatEncoder::between_layers(const GraphInput& input, const torch::Tensor& x, size_t layer,
                                         const kernels::Dropout& dropped) const {
  if (input.fused()) {
    if (settings_.activation == Activation::prelu) return ops::prelu_dropout(x, slopes_[layer], dropped, input.threads);
    if (settings_.activation == Activation::automatic || settings_.activation == Activation::elu)
      return ops::elu_dropout(x, dropped, input.threads);
  }
  return dropout(activated(x, layer), dropped);
}

Encoding GatEncoder::encode(const GraphInput& input, const Pass& pass) {
  Encoding state = encode_layers(input, pass);
  const size_t last = layers_.size() - 1;
  if (state.nodes.defined() && activates(last)) state.nodes = between_layers(input, state.nodes, last, {});
  return state;
}

Encoding GatEncoder::encode_layers(const GraphInput& input, const Pass& pass) {
  Encoding state{{}, pass.positions.rows, false};
  if (settings_.feature_mlp) state.nodes = lift_out_(activated(lift_in_(shown_features(input, pass)), 0));
  for (size_t l = 0; l < layers_.size(); ++l) {
    GatLayer& layer = layers_[l];
    const MessageGraph& graph = input.layer_graph(l);
    const bool last = l + 1 == layers_.size(), released = input.fused() && settings_.attention == Attention::released;
    const kernels::Dropout dropped = dropout_of(pass, settings_.dropout, l, kNodes),
                           edge_dropped = dropout_of(pass, settings_.edge_dropout, l, kEdges);
    if (state.positions.defined()) state.positions = first_rows(state.positions, graph.num_edges());

    torch::Tensor x;  // undefined: features that are better left as they are
    if (l > 0) {
      x = between_layers(input, state.nodes, l - 1, dropped);
    } else if (settings_.feature_mlp) {
      x = dropout(state.nodes, dropped);
    } else if (released && input.is_sample() && !input.features.matrix()->is_sparse()) {
      x = dropout(shown_features(input, pass), dropped);
    }
    if (x.defined() && released) {
      if (last && !pass.wants_nodes) return {{}, layer->refine(input, graph, x, state.positions), false};
      const bool only_wanted = last && !pass.wants_positions && pass.wanted != nullptr;
      if (only_wanted || input.is_sample()) {
        const std::vector<int32_t> targets = only_wanted ? *pass.wanted : row_range(0, input.rows_after(l));
        if (ops::attend_targets_pays(*graph.index, targets, x.size(1), settings_.width, settings_.heads)) {
          const auto out = layer->at_targets(input, graph, targets, x, state.positions, edge_dropped);
          state = {out.nodes, only_wanted ? torch::Tensor() : out.positions, only_wanted};
          continue;
        }
      }
    }
    torch::Tensor z;
    if (!x.defined()) {
      z = project_features(input, pass, layer->weight, dropped);
    } else {
      z = input.fused() ? ops::linear(x, layer->weight, {}, input.threads) : torch::mm(x, layer->weight);
    }
    const auto out = layer(input, graph, z, state.positions, edge_dropped);
    state = {first_rows(out.nodes, input.rows_after(l)), out.positions, false};
  }
  return state;
}

}  // namespace graphpae
