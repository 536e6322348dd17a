#include "graphpae/model/model.h"

#include <torch/torch.h>

#include "graphpae/model/gat_encoder.h"
#include "graphpae/model/gated_gcn_encoder.h"

namespace graphpae {

kernels::Dropout dropout_of(const Pass& pass, double probability, size_t layer, DropoutSite site) {
  if (!pass.training) return {};
  return {static_cast<float>(probability), Rng(pass.dropout_key, layer).bits(site)};
}

std::shared_ptr<Encoder> make_encoder(const Settings& settings, const InputShape& shape, Initialiser& init) {
  if (settings.encoder == EncoderKind::gat) return std::make_shared<GatEncoder>(settings, shape.features, init);
  return std::make_shared<GatedGcnEncoder>(settings, shape, init);
}

namespace {

std::shared_ptr<Encoder> drawn_encoder(const Settings& settings, const InputShape& shape) {
  check(settings);
  Initialiser init(static_cast<uint64_t>(settings.seed));
  return make_encoder(settings, shape, init);
}

}  // namespace

Model::Model(const Settings& settings, const InputShape& shape)
    : Model(settings, shape, drawn_encoder(settings, shape)) {}

Model::Model(const Settings& settings, const InputShape& shape, std::shared_ptr<Encoder> trained)
    : encoder(std::move(trained)), settings_(settings), shape_(shape) {
  register_module("encoder", encoder);
}

Encoding Model::encode(const GraphInput& input, bool training, uint64_t dropout_key,
                       const std::vector<int32_t>* wanted) {
  Pass pass;
  pass.training = training;
  pass.dropout_key = dropout_key;
  pass.wants_positions = false;
  pass.wanted = wanted;
  if (settings_.use_positions) pass.positions = encoder->distance->embed(input, input.distances, {}).clean;
  return encoder->encode(input, pass);
}

torch::Tensor Model::embed(const GraphInput& input) {
  const torch::NoGradGuard no_grad;
  return encode(input, false, 0).nodes;
}

}  // namespace graphpae
