#include "graphpae/methods/graphmae/graphmae.h"

#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/settings/streams.h"

namespace graphpae::graphmae {
namespace {

Rng part(const Rng& rng, uint64_t number) { return Rng(rng.bits(2 * number), rng.bits(2 * number + 1)); }

// Products are truncated, as released.
int64_t share(double ratio, int64_t count) { return static_cast<int64_t>(ratio * static_cast<double>(count)); }

}  // namespace

Masking mask_by_orders(const Orders& orders, double mask_ratio, double replace_ratio) {
  const auto n = static_cast<int64_t>(orders.nodes.size());
  const int64_t count = share(mask_ratio, n), replaced = share(replace_ratio, count);
  Masking masking = mask_nodes(n, {orders.nodes.begin(), orders.nodes.begin() + count});
  if (replaced == 0) return masking;
  const auto node_at = [&](int64_t place) { return masking.masked[static_cast<size_t>(orders.masked[place])]; };
  for (int64_t m = share(1 - replace_ratio, count); m < count; ++m) masking.shown[node_at(m)] = node_at(m);
  for (int64_t k = 0; k < replaced; ++k) masking.shown[node_at(count - replaced + k)] = orders.donors[k];
  return masking;
}

Masking draw_nodes(int64_t num_nodes, double mask_ratio, double replace_ratio, const Rng& rng) {
  const auto permutation = [&](uint64_t number, int64_t count) {
    return part(rng, number).permutation(static_cast<int32_t>(count));
  };
  return mask_by_orders(
      {permutation(0, num_nodes), permutation(1, share(mask_ratio, num_nodes)), permutation(2, num_nodes)}, mask_ratio,
      replace_ratio);
}

Masking draw_atoms(std::span<const int64_t> offsets, int64_t first, double mask_ratio, const Rng& rng) {
  std::vector<int32_t> masked;
  for (size_t g = 0; g + 1 < offsets.size(); ++g) {
    const int64_t atoms = offsets[g + 1] - offsets[g];
    const auto count = std::min(atoms, static_cast<int64_t>(mask_ratio * static_cast<double>(atoms) + 1));
    const std::vector<int32_t> order =
        part(rng, static_cast<uint64_t>(first) + g).permutation(static_cast<int32_t>(atoms));
    for (int64_t k = 0; k < count; ++k) masked.push_back(static_cast<int32_t>(offsets[g]) + order[k]);
  }
  return mask_nodes(offsets.back(), std::move(masked));
}

}  // namespace graphpae::graphmae

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
