// What can be said of a training run without preparing its data: shapes, and whether it can work.
#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/methods/registry.h"
#include "graphpae/model/named_tensors.h"
#include "graphpae/model/sample_input.h"
#include "graphpae/train/estimate.h"
#include "graphpae/train/largest_batch.h"
#include "graphpae/train/sharded_molecules.h"

namespace graphpae {
namespace {

NamedShapes molecule_shapes(int64_t rows, int64_t molecules, int64_t atoms, int64_t bonds, const InputShape& shape,
                            const Settings& s) {
  const int64_t steps = s.batch_size == 0 ? 1 : std::max<int64_t>(1, (molecules + s.batch_size - 1) / s.batch_size);
  const auto per_step = [&](int64_t count) { return (count + steps - 1) / steps; };
  NamedShapes shapes = {{"molecules", {rows}},
                        {"steps of an epoch", {steps}},
                        {"atoms of a step, codes", {per_step(atoms), static_cast<int64_t>(shape.atom_codes.size())}},
                        {"bonds of a step, codes", {per_step(bonds), static_cast<int64_t>(shape.bond_codes.size())}}};
  if (s.use_positions) shapes.push_back({"positions of a step", {per_step(atoms), s.eigenvectors}});
  return shapes;
}

NamedShapes data_shapes(const Graph& graph, const Settings& settings) {
  NamedShapes shapes = {
      {"features X", {graph.num_nodes(), graph.features().columns()}},
      {"edges with self loops", {static_cast<int64_t>(graph.adjacency().neighbours().size()) + graph.num_nodes()}}};
  if (settings.use_positions) shapes.push_back({"positions U", {graph.num_nodes(), settings.eigenvectors}});
  return shapes;
}
NamedShapes data_shapes(const GraphSet& set, const Settings& settings) {
  int64_t molecules = 0;
  for (int64_t g = 0; g < set.num_graphs(); ++g) molecules += atoms_of(set, g) > 0;
  return molecule_shapes(set.num_graphs(), molecules, set.num_nodes(), set.num_edges(), input_shape(set), settings);
}
NamedShapes data_shapes(const ShardSet& shards, const Settings& settings) {
  const ShardManifest& m = shards.manifest();
  return molecule_shapes(m.molecules(), m.molecules(), m.atoms(), m.bonds(), input_shape(shards), settings);
}

NamedShapes with_tensors(NamedShapes shapes, const torch::nn::Module& module) {
  for (const auto& [name, tensor] : named_tensors(module)) shapes.emplace_back(name, tensor.sizes().vec());
  return shapes;
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

template <class Data>
NamedShapes model_shapes(const Data& data, const Settings& settings) {
  return with_tensors(data_shapes(data, settings), *make_method(settings, input_shape(data)));
}

template <class Data>
NamedShapes finetuning_shapes(const Data& data, const Settings& settings) {
  return with_tensors(data_shapes(data, settings), Model(settings, input_shape(data)));
}

template NamedShapes model_shapes(const Graph&, const Settings&);
template NamedShapes model_shapes(const GraphSet&, const Settings&);
template NamedShapes model_shapes(const ShardSet&, const Settings&);
template NamedShapes finetuning_shapes(const Graph&, const Settings&);
template NamedShapes finetuning_shapes(const GraphSet&, const Settings&);

void check_trainable(const Graph& graph, const Settings& settings) {
  check(settings);
  check_encoder(settings, EncoderKind::gat);
  if (graph.features().columns() == 0)
    throw data_error("the graph has no node features; --features names a file of them");
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
