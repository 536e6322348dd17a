#include "graphpae/train/inputs.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include "graphpae/core/error.h"
#include "graphpae/core/tensors.h"
#include "graphpae/positions/position_file.h"

namespace graphpae {

PositionOptions position_options(const Settings& settings) {
  PositionOptions options;
  options.k = settings.eigenvectors;
  options.skip_zero = settings.skip_zero_eigenvalues;
  options.absolute = settings.absolute_positions;
  options.normalisation =
      settings.position_norm == PositionNorm::l2 ? PositionNormalisation::l2 : PositionNormalisation::none;
  return options;
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
  if (settings.encoder != EncoderKind::gat)
    throw usage_error("encoder gated_gcn is for molecules; one graph needs encoder=gat");
  if (graph.features().columns() == 0)
    throw data_error("the graph has no node features; --features names a file of them");
  use_threads_in_torch(options.threads);
  const torch::Tensor positions = settings.use_positions ? make_positions(graph, settings, options) : torch::Tensor();
  return graph_input(graph, settings, positions, options.threads, options.kernels);
}

}  // namespace graphpae
