#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/model/inputs.h"
#include "graphpae/train/estimate.h"
#include "graphpae/train/sharded_molecules.h"

namespace graphpae {
namespace {

int64_t atoms_of(const GraphSet& set, int64_t molecule) {
  return set.parts().node_offsets[molecule + 1] - set.parts().node_offsets[molecule];
}

void check_molecule_settings(const Settings& settings, int64_t largest) {
  check(settings);
  check_encoder(settings, EncoderKind::gated_gcn);
  for (const auto& [is_set, name] : {std::pair{settings.replace_ratio > 0, "replace_ratio"},
                                     {settings.row_normalize, "row_normalize"},
                                     {settings.feature_mlp, "feature_mlp"},
                                     {settings.attention != Attention::released, "attention"}}) {
    if (is_set) throw usage_error(fmt::format("{} means nothing for molecules", name));
  }
  if (std::floor(settings.mask_ratio * static_cast<double>(largest)) < 1) {
    throw usage_error(
        fmt::format("mask_ratio {} masks none of the {} atoms of the largest batch", settings.mask_ratio, largest));
  }
}

}  // namespace

std::vector<int32_t> largest_batch(const GraphSet& set, int64_t size) {
  std::vector<int32_t> order = row_range(0, set.num_graphs());
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return atoms_of(set, a) > atoms_of(set, b); });
  if (size > 0 && static_cast<size_t>(size) < order.size()) order.resize(static_cast<size_t>(size));
  while (!order.empty() && atoms_of(set, order.back()) == 0) order.pop_back();
  return order;
}

void check_trainable(const Graph& graph, const Settings& settings) {
  check(settings);
  check_encoder(settings, EncoderKind::gat);
  if (graph.features().columns() == 0) throw data_error("the graph has no node features");
  if (settings.batch_size > 0) sampling_options(settings);
  const int64_t at_once =
      settings.batch_size > 0 ? std::min(settings.batch_size, graph.num_nodes()) : graph.num_nodes();
  if (std::floor(settings.mask_ratio * static_cast<double>(at_once)) < 1)
    throw usage_error(fmt::format("mask_ratio {} masks none of {} nodes", settings.mask_ratio, at_once));
}

void check_trainable(const GraphSet& molecules, const Settings& settings) {
  featurizer_of(molecules);
  int64_t atoms = 0;
  for (const int32_t molecule : largest_batch(molecules, settings.batch_size)) atoms += atoms_of(molecules, molecule);
  check_molecule_settings(settings, atoms);
}

void check_trainable(const ShardSet& shards, const Settings& settings) {
  const ShardManifest& m = shards.manifest();
  const int64_t most = settings.batch_size == 0 ? m.atoms() : std::min(m.atoms(), settings.batch_size * m.largest);
  check_molecule_settings(settings, most);
  check_settings(shards, settings);
}

}  // namespace graphpae
