#include "graphpae/model/encoder.h"

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

}  // namespace graphpae
