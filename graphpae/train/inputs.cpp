#include "graphpae/train/inputs.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include "graphpae/core/error.h"
#include "graphpae/core/tensors.h"
#include "graphpae/positions/position_file.h"

namespace graphpae {
namespace {

// [N,K] of all atoms.
std::vector<double> make_positions(const GraphSet& set, const Settings& settings, const InputOptions& options) {
  const GraphSetParts& parts = set.parts();
  const GraphBatch graphs{parts.node_offsets, parts.edge_offsets, parts.edges};
  const PositionOptions wanted = position_options(settings);
  const PositionCache cache(options.cache);
  const std::string key = options.cache.empty() ? "" : position_key(graphs, wanted);
  std::optional<BatchPositions> positions = options.cache.empty() ? std::nullopt : cache.find_batch(key);
  if (!positions) {
    std::function<bool(int64_t)> progress;
    if (options.progress) {
      progress = [&](int64_t done) { return options.progress({done, set.num_graphs(), set.num_nodes()}); };
    }
    positions = position_batch(graphs, wanted, options.threads, progress);
    if (!options.cache.empty()) cache.store(key, *positions);
  }
  if (positions->unconverged_graphs > 0) {
    throw numerical_error(fmt::format("the eigenvectors of {} molecules could not be computed to the tolerance",
                                      positions->unconverged_graphs));
  }
  return std::move(positions->eigenvectors);
}

}  // namespace

PositionOptions position_options(const Settings& settings) {
  PositionOptions options;
  options.k = settings.eigenvectors;
  options.skip_zero = settings.skip_zero_eigenvalues;
  options.absolute = settings.absolute_positions;
  options.normalisation =
      settings.position_norm == PositionNorm::l2 ? PositionNormalisation::l2 : PositionNormalisation::none;
  return options;
}

void check_encoder(const Settings& settings, EncoderKind needed) {
  if (settings.encoder == needed) return;
  throw usage_error(needed == EncoderKind::gat
                        ? "encoder gated_gcn is for molecules; one graph needs encoder=gat"
                        : "encoder gat is for one graph; molecules need encoder=gated_gcn, as in recipe molecules");
}

InputShape input_shape(const Graph& graph) {
  InputShape shape;
  shape.features = graph.features().columns();
  return shape;
}

torch::Tensor make_positions(const Graph& graph, const Settings& settings, const InputOptions& options) {
  const PositionOptions wanted = position_options(settings);
  const PositionCache cache(options.cache);
  const std::string key = options.cache.empty() ? "" : position_key(graph.adjacency(), wanted);
  std::optional<Positions> positions = options.cache.empty() ? std::nullopt : cache.find(key);
  if (!positions) {
    positions = laplacian_positions(graph.adjacency(), wanted, options.threads, options.progress);
    if (!options.cache.empty()) cache.store(key, *positions);
  }
  if (options.note) {
    for (const std::string& note : positions->notes) options.note(note);
  }
  if (positions->status != PositionStatus::converged)
    throw numerical_error("the eigenvectors of the graph could not be computed to the tolerance");
  return torch::tensor(positions->eigenvectors, torch::kFloat64).view({positions->num_nodes, positions->k});
}

GraphInput make_input(const Graph& graph, const Settings& settings, const InputOptions& options) {
  check_encoder(settings, EncoderKind::gat);
  if (graph.features().columns() == 0)
    throw data_error("the graph has no node features; --features names a file of them");
  use_threads_in_torch(options.threads);
  const torch::Tensor positions = settings.use_positions ? make_positions(graph, settings, options) : torch::Tensor();
  return graph_input(graph, settings, positions, options.threads, options.kernels);
}

Featurizer featurizer_of(const GraphSet& set) {
  if (!set.has_structure()) throw data_error("the molecules have no structure: only their texts were read");
  const int64_t atoms = set.parts().node_codes.columns, bonds = set.parts().edge_codes.columns;
  for (const Featurizer featurizer : {Featurizer::ogb, Featurizer::transfer}) {
    const CodeSizes sizes = code_sizes(featurizer);
    if (atoms == static_cast<int64_t>(sizes.atoms.size()) && bonds == static_cast<int64_t>(sizes.bonds.size()))
      return featurizer;
  }
  throw data_error(fmt::format(
      "atoms have {} codes and bonds {}; expected 9 and 3 (featurizer ogb) or 2 and 2 (featurizer transfer)", atoms,
      bonds));
}

InputShape input_shape(const GraphSet& set) {
  CodeSizes sizes = code_sizes(featurizer_of(set));
  ++sizes.atoms[0];  // the mask token
  return {0, std::move(sizes.atoms), std::move(sizes.bonds)};
}

std::shared_ptr<const MoleculeInputs> make_input(const GraphSet& set, const Settings& settings,
                                                 const InputOptions& options) {
  check_encoder(settings, EncoderKind::gated_gcn);
  const InputShape shape = input_shape(set);
  use_threads_in_torch(options.threads);
  return std::make_shared<const MoleculeInputs>(
      set, shape, settings.use_positions ? make_positions(set, settings, options) : std::vector<double>(),
      options.threads, options.kernels);
}

}  // namespace graphpae
