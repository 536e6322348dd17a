#include "graphpae/methods/graphmae/graphmae.h"

#include <torch/torch.h>

#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/settings/streams.h"

namespace graphpae {
namespace {

enum Site : uint64_t { kEncoder = 0, kDecoder = 1 };

}  // namespace

GraphMae::GraphMae(const Settings& settings, const InputShape& shape) : Method(settings, shape) {
  if (settings.encoder == EncoderKind::gated_gcn) {
    decoder = std::make_shared<graphmae::GinDecoder>(settings, shape.bond_codes, shape.atom_codes.at(0) - 1, init_);
  } else {
    if (settings.batch_size > 0) throw usage_error("method graphmae takes the whole graph in a step; use batch_size=0");
    decoder = std::make_shared<graphmae::GatDecoder>(settings, shape.features, init_);
  }
  register_module("decoder", decoder);
}

torch::Tensor GraphMae::loss(const GraphInput& input, const Masking& masking, uint64_t dropout_key) {
  Pass pass;
  pass.hidden = &masking;
  pass.training = is_training();
  pass.dropout_key = Rng(dropout_key).bits(kEncoder);
  pass.wants_positions = false;
  if (settings_.use_positions) pass.positions = encoder->distance->embed(input, input.distances, {}).clean;
  return decoder->loss(
      {input, encoder->encode(input, pass).nodes, masking, settings_, Rng(dropout_key).bits(kDecoder)});
}

// Several processes divide a batch of molecules; the loss of a part counts by the atoms that are masked in it.
std::vector<double> GraphMae::learn(const GraphInput& input, const LearningStep& step) {
  const Rng rng = stream_of(settings_, Stream::corruption, step.number);
  const uint64_t dropout_key = step.own_key(input, stream_of(settings_, Stream::dropout, step.number).bits(0));
  const int64_t first = step.place_of(input, input.num_molecules()).first;
  const Masking masking =
      input.is_molecules()
          ? graphmae::draw_atoms(input.graph_offsets, first, settings_.mask_ratio, rng)
          : graphmae::draw_nodes(input.num_nodes(), settings_.mask_ratio, settings_.replace_ratio, rng);
  std::vector<double> all = {static_cast<double>(masking.masked.size())};
  double share = 1;
  if (step.processes != nullptr) {
    step.processes->sum(all);
    share = static_cast<double>(masking.masked.size()) / all[0];
  }
  if (all[0] == 0) return {};
  const torch::Tensor value = loss(input, masking, dropout_key);
  std::vector<double> terms = {share * value.item<double>()};
  if (step.before_last_pass) step.before_last_pass({});
  if (step.processes != nullptr || std::isfinite(terms[0])) (share * value).backward();
  if (step.after_last_pass) step.after_last_pass();
  if (step.processes != nullptr) step.processes->sum(terms);
  return terms;
}

}  // namespace graphpae
