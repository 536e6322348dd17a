#include "graphpae/model/gat_encoder.h"

#include <torch/torch.h>

#include <numeric>

#include "graphpae/ops/attention_ops.h"
#include "graphpae/ops/dense_ops.h"
#include "graphpae/ops/feature_ops.h"

namespace graphpae {
namespace {

enum Site : uint64_t { kNodes = 0, kEdges = 1 };

kernels::Dropout dropout_of(const Pass& pass, double probability, size_t layer, Site site) {
  if (!pass.training) return {};
  return {static_cast<float>(probability), Rng(pass.dropout_key, layer).bits(site)};
}

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
  for (int64_t l = 0; l < settings.layers; ++l) {
    layers_.push_back(register_module("layer" + std::to_string(l), GatLayer(settings, in, init)));
    in = settings.width;
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

torch::Tensor GatEncoder::between(const torch::Tensor& x) const {
  return activate(x, settings_.activation == Activation::automatic ? Activation::elu : settings_.activation);
}

// x W of the first layer. Fused: sparse features stay sparse, and the token is multiplied once.
torch::Tensor GatEncoder::project_features(const GraphInput& input, const Pass& pass, const torch::Tensor& weight,
                                           const kernels::Dropout& dropped) const {
  if (!input.fused()) return torch::mm(dropout(shown_features(input, pass), dropped), weight);
  std::vector<int32_t> all;
  if (pass.hidden == nullptr) {
    all.resize(static_cast<size_t>(input.num_nodes()));
    std::iota(all.begin(), all.end(), 0);
  }
  return ops::corrupted_product(*input.features.matrix(), pass.hidden == nullptr ? all : pass.hidden->shown, mask_token,
                                weight, dropped, input.threads);
}

// dropout(activation(x)) W of a later layer, in two steps because a layer may do without the product.
torch::Tensor GatEncoder::between_layers(const GraphInput& input, const torch::Tensor& x,
                                         const kernels::Dropout& dropped) const {
  const bool elu = settings_.activation == Activation::automatic || settings_.activation == Activation::elu;
  return input.fused() && elu ? ops::elu_dropout(x, dropped, input.threads) : dropout(between(x), dropped);
}

Encoding GatEncoder::encode(const GraphInput& input, const Pass& pass) {
  Encoding state{{}, pass.positions.rows, false};
  if (settings_.feature_mlp) state.nodes = lift_out_(between(lift_in_(shown_features(input, pass))));
  for (size_t l = 0; l < layers_.size(); ++l) {
    GatLayer& layer = layers_[l];
    const kernels::Dropout dropped = dropout_of(pass, settings_.dropout, l, kNodes);
    torch::Tensor z;
    if (l == 0 && !settings_.feature_mlp) {
      z = project_features(input, pass, layer->weight, dropped);
    } else {
      const torch::Tensor x = l == 0 ? dropout(state.nodes, dropped) : between_layers(input, state.nodes, dropped);
      if (l + 1 == layers_.size() && input.fused() && settings_.attention == Attention::released) {
        if (!pass.wants_nodes) return {{}, layer->refine(input, x, state.positions), false};
        if (!pass.wants_positions && pass.wanted != nullptr &&
            ops::attend_targets_pays(*input.graph.index, *pass.wanted, x.size(1), settings_.width, settings_.heads)) {
          const kernels::Dropout edge_dropped = dropout_of(pass, settings_.edge_dropout, l, kEdges);
          return {layer->at_targets(input, *pass.wanted, x, state.positions, edge_dropped), {}, true};
        }
      }
      z = input.fused() ? ops::linear(x, layer->weight, {}, input.threads) : torch::mm(x, layer->weight);
    }
    const auto out = layer(input, z, state.positions, dropout_of(pass, settings_.edge_dropout, l, kEdges));
    state = {out.nodes, out.positions, false};
  }
  return state;
}

}  // namespace graphpae
