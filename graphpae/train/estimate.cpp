#include "graphpae/train/estimate.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <cmath>

#include "graphpae/core/machine.h"
#include "graphpae/core/memory.h"
#include "graphpae/core/stopwatch.h"
#include "graphpae/methods/method.h"
#include "graphpae/ops/tensors.h"
#include "graphpae/settings/streams.h"
#include "graphpae/train/finetune.h"
#include "graphpae/train/pretrain.h"

namespace graphpae {
namespace {

int64_t count_of(const std::vector<torch::Tensor>& parameters) {
  int64_t count = 0;
  for (const torch::Tensor& parameter : parameters) count += parameter.numel();
  return count;
}

// What a step works on.
struct StepSize {
  double stored = 0;           // bytes of the data, prepared
  double inputs = 0;           // nodes that a step reads
  double rows = 0, edges = 0;  // nodes and directed edges of all layers of a step
};

StepSize size_of(const Graph& graph, const Settings& s) {
  const double n = static_cast<double>(graph.num_nodes()), layers = static_cast<double>(s.layers),
               edges = static_cast<double>(graph.adjacency().neighbours().size()) + n;
  const double stored = (graph.features().is_sparse() ? 8 : 4) * static_cast<double>(graph.features().nonzeros()) +
                        4 * edges + (s.use_positions ? 16 * n * static_cast<double>(s.eigenvectors) : 0);
  if (s.batch_size == 0) return {stored, n, layers * n, layers * edges};
  // Samples are as large as one another.
  NeighbourSampler sampler(graph.adjacency(), sampling_options(s));
  std::vector<int32_t> seeds = stream_of(s, Stream::order, 0).permutation(static_cast<int32_t>(graph.num_nodes()));
  seeds.resize(static_cast<size_t>(std::min(s.batch_size, graph.num_nodes())));
  const SampledNeighbourhood sample = sampler.sample(seeds, stream_of(s, Stream::sampling, 0), Threads{1});
  StepSize size{stored, static_cast<double>(sample.nodes.size())};
  for (size_t hops = 0; hops + 1 < sample.reach.size(); ++hops) {
    size.rows += static_cast<double>(sample.reach[hops]);
    size.edges += static_cast<double>(sample.offsets[sample.reach[hops]]);
  }
  return size;
}

// Molecules in memory or in shards.
struct Counts {
  int64_t rows, atoms, bonds;
  double prepared;  // share of them that is in memory at once
};

Counts counts_of(const GraphSet& set) { return {set.num_graphs(), set.num_nodes(), set.num_edges(), 1}; }

Counts counts_of(const ShardSet& shards) {
  const ShardManifest& m = shards.manifest();
  return {m.molecules(), m.atoms(), m.bonds(),
          std::min(1.0, 2.0 * kShardsPerWindow / static_cast<double>(shards.num_shards()))};
}

template <class Molecules>
StepSize size_of(const Molecules& data, const Settings& s) {
  const Counts counts = counts_of(data);
  const double n = static_cast<double>(counts.atoms), edges = 2 * static_cast<double>(counts.bonds),
               layers = static_cast<double>(s.layers),
               batch = static_cast<double>(s.batch_size) / static_cast<double>(counts.rows),
               part = s.batch_size == 0 ? 1 : std::min(1.0, batch);
  return {counts.prepared * (n * static_cast<double>(8 * s.eigenvectors + 4) + edges * 16), part * n, part * layers * n,
          part * layers * edges};
}

int64_t with_atoms(const GraphSet& set) { return static_cast<int64_t>(largest_batch(set, 0).size()); }
int64_t with_atoms(const ShardSet& shards) { return shards.manifest().molecules(); }

NamedShapes data_shapes(const Graph& graph, const Settings& settings) {
  NamedShapes shapes = {
      {"features X", {graph.num_nodes(), graph.features().columns()}},
      {"edges with self loops", {static_cast<int64_t>(graph.adjacency().neighbours().size()) + graph.num_nodes()}}};
  if (settings.use_positions) shapes.push_back({"positions U", {graph.num_nodes(), settings.eigenvectors}});
  return shapes;
}

template <class Molecules>
NamedShapes data_shapes(const Molecules& data, const Settings& s) {
  const Counts counts = counts_of(data);
  const InputShape shape = input_shape(data);
  const auto batches = [](int64_t count, int64_t size) { return (count + size - 1) / size; };
  const int64_t steps = s.batch_size == 0 ? 1 : std::max<int64_t>(1, batches(with_atoms(data), s.batch_size)),
                atoms = batches(counts.atoms, steps), bonds = batches(counts.bonds, steps);
  NamedShapes shapes = {{"molecules", {counts.rows}},
                        {"steps of an epoch", {steps}},
                        {"atoms of a step, codes", {atoms, static_cast<int64_t>(shape.atom_codes.size())}},
                        {"bonds of a step, codes", {bonds, static_cast<int64_t>(shape.bond_codes.size())}}};
  if (s.use_positions) shapes.push_back({"positions of a step", {atoms, s.eigenvectors}});
  return shapes;
}

template <class Data>
NamedShapes shapes_of(const Data& data, const Settings& settings, const torch::nn::Module& module) {
  NamedShapes shapes = data_shapes(data, settings);
  for (const auto& [name, tensor] : named_tensors(module)) shapes.emplace_back(name, tensor.sizes().vec());
  return shapes;
}

// Entries as small as those of eigenvectors.
void fill_positions(double* values, int64_t nodes, int64_t columns) {
  const Rng rng(0);
  const double scale = 2 / std::sqrt(static_cast<double>(nodes));
  for (int64_t i = 0; i < nodes * columns; ++i) values[i] = scale * (rng.uniform(static_cast<uint64_t>(i)) - 0.5);
}

PreparedGraph prepare_for_trial(const Graph& graph, Settings settings, const InputOptions& options) {
  const bool positions = std::exchange(settings.use_positions, false);
  PreparedGraph prepared = prepare(graph, settings, options);
  if (positions) {
    prepared.positions = torch::empty({graph.num_nodes(), settings.eigenvectors}, torch::kFloat64);
    fill_positions(prepared.positions.data_ptr<double>(), graph.num_nodes(), settings.eigenvectors);
  }
  return prepared;
}

std::shared_ptr<const MoleculeInputs> prepare_for_trial(const GraphSet& set, const Settings& s,
                                                        const InputOptions& options) {
  use_threads_in_torch(options.threads);
  std::vector<double> positions(static_cast<size_t>(s.use_positions ? set.num_nodes() * s.eigenvectors : 0));
  if (s.use_positions) fill_positions(positions.data(), set.num_nodes(), s.eigenvectors);
  return std::make_shared<const MoleculeInputs>(set, input_shape(set), std::move(positions), options.threads,
                                                options.kernels);
}

ShardInput prepare_for_trial(const ShardSet& shards, const Settings& settings, const InputOptions& options) {
  return prepare(shards, settings, options);
}

// Seconds of an epoch, from some steps. The first one, which is slower than the others, counts only if it takes long.
double seconds_of_epoch(Resumable& trainer) {
  constexpr double kLong = 3, kEnough = 0.5;
  constexpr int kMost = 10;
  Stopwatch watch;
  trainer.train_step();
  const double epoch = static_cast<double>(trainer.steps_per_epoch());
  if (watch.seconds() > kLong) return watch.seconds() * epoch;
  watch.restart();
  int steps = 0;
  for (; steps == 0 || (steps < kMost && watch.seconds() < kEnough); ++steps) trainer.train_step();
  return watch.seconds() / steps * epoch;
}

}  // namespace

template <class Data>
int64_t training_bytes(const Data& data, const Settings& s, Kernels kernels) {
  constexpr double kProgram = 2.5e8;  // of the program and LibTorch
  const bool fused = kernels == Kernels::fused, gat = s.encoder == EncoderKind::gat;
  const InputShape shape = input_shape(data);
  const double inputs = static_cast<double>(shape.features), width = static_cast<double>(s.width);
  // Values, gradients and two moments.
  const double kept = 16 * static_cast<double>(count_of(make_method(s, shape)->parameters()));
  const StepSize size = size_of(data, s);
  // How many rows of the width of the model a node and an edge hold in every layer, of all passes.
  const double row = gat ? (fused ? 10 : 12) : (fused ? 3 : 30), edge = gat ? (fused ? 0 : 4.6) : (fused ? 3.5 : 60);
  double rows = row * size.rows + edge * size.edges;
  if (s.feature_mlp) rows += 8 * size.inputs;                     // both passes lift
  rows += s.mask_ratio * size.inputs * (s.decoder_norm ? 4 : 2);  // of the feature decoder
  const double distances =
      size.edges * static_cast<double>(16 * (s.heads + 1) + (fused ? (gat ? 0 : 2) : 16) * s.gaussians);
  const bool lean = fused && s.batch_size == 0 && !s.feature_mlp;  // features stay sparse, and are read in place
  const double features = (lean ? 4 : 16) * size.inputs * inputs;
  return static_cast<int64_t>(kProgram + kept + size.stored + 4 * width * rows + distances + features);
}

template <class Data>
Estimate estimate(const Data& data, const Settings& settings, Kernels kernels, Threads threads) {
  const InputShape shape = input_shape(data);
  auto method = make_method(settings, shape);
  Estimate result{count_of(method->parameters()),
                  training_bytes(data, settings, kernels),
                  0,
                  settings.epochs,
                  shapes_of(data, settings, *method),
                  0};
  if (result.bytes > available_memory()) return result;
  method.reset();
  result.load = load_average();
  restart_peak_memory();
  InputOptions options;
  options.threads = threads;
  options.kernels = kernels;
  const auto input = prepare_for_trial(data, settings, options);
  if constexpr (std::is_same_v<Data, GraphSet>) {  // the largest batch says how much memory, others how long
    auto largest = std::make_unique<WholeGraph>(input->batch(largest_batch(data, settings.batch_size)));
    Pretrainer(std::move(largest), shape, settings, threads).train_step();
  }
  Pretrainer trainer(input, shape, settings);
  result.seconds = seconds_of_epoch(trainer);
  result.bytes = peak_memory();
  return result;
}

template <class Data>
Estimate estimate_finetuning(const Data& data, std::shared_ptr<Objective> objective, const Settings& settings,
                             const FinetuneSettings& finetune) {
  const double load = load_average();
  restart_peak_memory();
  Finetuner trainer(std::move(objective), settings, finetune, nullptr);
  const double seconds = seconds_of_epoch(trainer);
  const Predictor& predictor = trainer.predictor();
  return {count_of(predictor.model->parameters()) + count_of(predictor.head->parameters()),
          peak_memory(),
          seconds,
          settings.epochs,
          shapes_of(data, settings, *predictor.model),
          load};
}

template int64_t training_bytes(const Graph&, const Settings&, Kernels);
template int64_t training_bytes(const GraphSet&, const Settings&, Kernels);
template int64_t training_bytes(const ShardSet&, const Settings&, Kernels);
template Estimate estimate(const Graph&, const Settings&, Kernels, Threads);
template Estimate estimate(const GraphSet&, const Settings&, Kernels, Threads);
template Estimate estimate(const ShardSet&, const Settings&, Kernels, Threads);
template Estimate estimate_finetuning(const Graph&, std::shared_ptr<Objective>, const Settings&,
                                      const FinetuneSettings&);
template Estimate estimate_finetuning(const GraphSet&, std::shared_ptr<Objective>, const Settings&,
                                      const FinetuneSettings&);

}  // namespace graphpae
