#include "graphpae/model/inputs.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>

#include "graphpae/core/error.h"
#include "graphpae/ops/tensors.h"
#include "graphpae/positions/position_file.h"
#include "graphpae/settings/feature_columns.h"
#include "graphpae/settings/feature_plan.h"

namespace graphpae {
namespace {

constexpr double kZeroEigenvalue = 1e-6;  // as where skip_zero_eigenvalues leaves them out

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

InputShape input_shape(const Graph& graph) {
  InputShape shape;
  shape.features = graph.features().columns();
  shape.plan = graph.feature_plan();
  shape.feature_names = shape.plan ? shape.plan->names : graph.feature_names();
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
    if (positions->computed == positions->k && positions->components >= positions->k &&
        positions->eigenvalues.back() < kZeroEigenvalue)
      options.note(
          fmt::format("the {} eigenvectors only say which of {} components a node is in, as the graph has that many "
                      "eigenvalues 0; skip_zero_eigenvalues=yes takes the next ones",
                      positions->k, positions->components));
  }
  if (positions->status != PositionStatus::converged)
    throw numerical_error("the eigenvectors of the graph could not be computed to the tolerance");
  return torch::tensor(positions->eigenvectors, torch::kFloat64).view({positions->num_nodes, positions->k});
}

PreparedGraph prepare(const Graph& graph, const Settings& settings, const InputOptions& options) {
  check_encoder(settings, EncoderKind::gat);
  if (graph.features().columns() == 0) throw data_error("the graph has no node features");
  use_threads_in_torch(options.threads);
  PreparedGraph prepared;
  prepared.graph = &graph;
  prepared.features = divides_rows(settings, graph)
                          ? std::make_shared<const Features>(row_normalised(graph.features()))
                          : std::shared_ptr<const Features>(std::shared_ptr<void>(), &graph.features());
  if (graph.adjacency().has_weights() && settings.weights == WeightUse::use)
    prepared.weights = std::make_shared<const RelativeWeights>(graph.adjacency());
  if (graph.is_directed() && options.note)
    options.note("edges have directions, which positions and encoder do not see: both ways are taken alike");
  prepared.threads = options.threads;
  prepared.kernels = options.kernels;
  if (settings.use_positions) prepared.positions = make_positions(graph, settings, options);
  return prepared;
}

GraphInput whole_input(const PreparedGraph& graph) {
  GraphInput input;
  input.graph = MessageGraph(EdgeIndex(graph.graph->adjacency(), true));
  if (graph.weights) input.graph.set_weights(graph.weights->of_edges(*input.graph.index));
  input.features = NodeFeatures(graph.features);
  input.threads = graph.threads;
  input.kernels = graph.kernels;
  if (graph.positions.defined()) {
    input.positions = graph.positions;
    input.distances = edge_distances(input.graph, input.positions, torch::kFloat32, graph.threads);
  }
  return input;
}

GraphInput make_input(const Graph& graph, const Settings& settings, const InputOptions& options) {
  PreparedGraph prepared = prepare(graph, settings, options);
  if (!divides_rows(settings, graph)) prepared.features = std::make_shared<const Features>(graph.features());
  return whole_input(prepared);
}

SamplingOptions sampling_options(const Settings& settings) {
  SamplingOptions options{settings.fanout, settings.sample_replace};
  const auto layers = static_cast<size_t>(settings.layers);
  if (options.fanout.empty()) options.fanout.assign(layers, 0);
  if (options.fanout.size() != layers)
    throw usage_error(fmt::format("fanout has {} numbers for {} layers", options.fanout.size(), layers));
  return options;
}

GraphInput sample_input(const PreparedGraph& graph, const SampledNeighbourhood& sample) {
  const size_t layers = sample.reach.size() - 1;
  GraphInput input;
  input.seeds = sample.reach[0];
  for (size_t l = 0; l < layers; ++l) {
    const int64_t makes = sample.reach[layers - 1 - l];
    input.layers.emplace_back(EdgeIndex::from_sample(std::span(sample.offsets).first(static_cast<size_t>(makes + 1)),
                                                     sample.sources, sample.reach[layers - l]));
    if (graph.weights) input.layers[l].set_weights(graph.weights->of_edges(*input.layers[l].index, sample.nodes));
  }
  input.graph = input.layers[0];
  input.features = NodeFeatures(std::make_shared<const Features>(graph.features->gather(sample.nodes)));
  input.threads = graph.threads;
  input.kernels = graph.kernels;
  if (graph.positions.defined()) {
    const int64_t k = graph.positions.size(1);
    input.positions = torch::empty({static_cast<int64_t>(sample.nodes.size()), k}, torch::kFloat64);
    const double* from = graph.positions.data_ptr<double>();
    double* to = input.positions.data_ptr<double>();
    for (const int32_t node : sample.nodes) to = std::copy_n(from + node * k, k, to);
    input.distances = edge_distances(input.graph, input.positions, torch::kFloat32, Threads{1});
  }
  return input;
}

InputShape input_shape(const GraphSet& set) { return input_shape(featurizer_of(set)); }

InputShape input_shape(Featurizer featurizer) {
  CodeSizes sizes = code_sizes(featurizer);
  ++sizes.atoms[0];  // the mask token
  InputShape shape;
  shape.atom_codes = std::move(sizes.atoms);
  shape.bond_codes = std::move(sizes.bonds);
  return shape;
}

std::shared_ptr<const MoleculeInputs> prepare(const GraphSet& set, const Settings& settings,
                                              const InputOptions& options) {
  check_encoder(settings, EncoderKind::gated_gcn);
  const InputShape shape = input_shape(set);
  use_threads_in_torch(options.threads);
  return std::make_shared<const MoleculeInputs>(
      set, shape, settings.use_positions ? make_positions(set, settings, options) : std::vector<double>(),
      options.threads, options.kernels);
}

}  // namespace graphpae
