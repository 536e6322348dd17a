#include "graphpae/model/gat_encoder.h"

#include <torch/torch.h>

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
  if (settings.use_positions)
    distance = register_module("distance", DistanceEmbedding(settings, settings.heads, init));
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

Encoding GatEncoder::encode(const GraphInput& input, const Pass& pass) {
  Encoding state{shown_features(input, pass), pass.positions};
  if (settings_.feature_mlp) state.nodes = lift_out_(between(lift_in_(state.nodes)));
  for (size_t l = 0; l < layers_.size(); ++l) {
    if (l > 0) state.nodes = between(state.nodes);
    state.nodes = dropout(state.nodes, dropout_of(pass, settings_.dropout, l, kNodes));
    const auto out = layers_[l](input, torch::mm(state.nodes, layers_[l]->weight), state.positions,
                                dropout_of(pass, settings_.edge_dropout, l, kEdges));
    state = {out.nodes, out.positions};
  }
  return state;
}

}  // namespace graphpae
