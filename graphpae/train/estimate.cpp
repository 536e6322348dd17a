#include "graphpae/train/estimate.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <numeric>

#include "graphpae/core/error.h"
#include "graphpae/core/tensors.h"
#include "graphpae/kernels/dense_product.h"
#include "graphpae/model/graph_pae.h"
#include "graphpae/model/named_tensors.h"
#include "graphpae/train/inputs.h"
#include "graphpae/train/sampled_batches.h"
#include "graphpae/train/sharded_molecules.h"
#include "graphpae/train/streams.h"

namespace graphpae {
namespace {

struct Rates {
  double flops, bytes;  // per second
};

// A matrix product and a copy, a tenth of a second each. Reference operations multiply as LibTorch does, whose speed is
// that of the BLAS it was given.
Rates probe(Kernels kernels, Threads threads) {
  using Clock = std::chrono::steady_clock;
  use_threads_in_torch(threads);
  const torch::NoGradGuard no_grad;
  const auto rate = [](double work, const auto& run) {
    run();
    const auto start = Clock::now();
    int count = 0;
    double seconds = 0;
    for (; seconds < 0.1; ++count) {
      run();
      seconds = std::chrono::duration<double>(Clock::now() - start).count();
    }
    return work * count / seconds;
  };
  constexpr int64_t n = 768;
  const torch::Tensor a = torch::ones({n, n}), b = torch::ones({n, n}), c = torch::empty({n, n});
  const double flops = rate(2.0 * n * n * n, [&] {
    if (kernels == Kernels::reference) {
      torch::mm_out(const_cast<torch::Tensor&>(c), a, b);
    } else {
      kernels::dense_product(kernels::plain(a.data_ptr<float>(), n), kernels::plain(b.data_ptr<float>(), n), n, n, n,
                             c.data_ptr<float>(), n, {}, threads);
    }
  });
  const torch::Tensor from = torch::ones({8 << 20}), to = torch::empty({8 << 20});
  const double bytes = rate(2.0 * 4 * (8 << 20), [&] { const_cast<torch::Tensor&>(to).copy_(from); });
  return {flops, bytes};
}

int64_t atoms_of(const GraphSet& molecules, int64_t g) {
  return molecules.parts().node_offsets[g + 1] - molecules.parts().node_offsets[g];
}

// What the numbers of an epoch of molecules come from.
struct MoleculeCounts {
  InputShape shape;
  int64_t rows = 0, molecules = 0;               // molecules: rows with atoms
  int64_t atoms = 0, bonds = 0;                  // of an epoch
  int64_t atoms_at_once = 0, bonds_at_once = 0;  // prepared in memory

  int64_t steps(const Settings& settings) const {
    if (settings.batch_size == 0) return 1;
    return std::max<int64_t>(1, (molecules + settings.batch_size - 1) / settings.batch_size);
  }
};

MoleculeCounts counts_of(const GraphSet& set) {
  MoleculeCounts counts{input_shape(set), set.num_graphs(), 0, set.num_nodes(), set.num_edges(),
                        set.num_nodes(),  set.num_edges()};
  for (int64_t g = 0; g < set.num_graphs(); ++g) counts.molecules += atoms_of(set, g) > 0;
  return counts;
}

MoleculeCounts counts_of(const ShardSet& shards) {
  const ShardManifest& m = shards.manifest();
  MoleculeCounts counts{input_shape(shards), m.molecules(), m.molecules(), m.atoms(), m.bonds(), 0, 0};
  const auto windows = std::min<int64_t>(2 * kShardsPerWindow, shards.num_shards());
  counts.atoms_at_once = m.atoms() * windows / shards.num_shards();
  counts.bonds_at_once = m.bonds() * windows / shards.num_shards();
  return counts;
}

// Atoms of the largest molecules that make a batch.
int64_t largest_batch(const GraphSet& molecules, const Settings& settings) {
  std::vector<int64_t> sizes;
  for (int64_t g = 0; g < molecules.num_graphs(); ++g) sizes.push_back(atoms_of(molecules, g));
  std::sort(sizes.begin(), sizes.end(), std::greater<>());
  if (settings.batch_size > 0) sizes.resize(std::min<size_t>(sizes.size(), settings.batch_size));
  return std::accumulate(sizes.begin(), sizes.end(), int64_t{0});
}

Estimate estimate_molecules(const MoleculeCounts& counts, const Settings& s, Kernels kernels, Threads threads) {
  const InputShape& shape = counts.shape;
  const double n = static_cast<double>(counts.atoms), edges = 2 * static_cast<double>(counts.bonds);
  const double d = static_cast<double>(s.width), layers = static_cast<double>(s.layers);
  const double g = static_cast<double>(s.gaussians), k = static_cast<double>(s.eigenvectors);
  const double types = static_cast<double>(shape.atom_codes[0]);
  const double passes = s.dual_path && s.use_positions && s.reconstruct_positions ? 2 : 1;
  const double steps = static_cast<double>(counts.steps(s));

  Estimate e;
  for (const auto& parameter : GraphPae(s, shape).parameters()) e.parameters += parameter.numel();
  const double weights = 4 * 4 * static_cast<double>(e.parameters);  // values, gradients, two moments

  // Four products per atom and one per bond direction in every layer, six operations per multiplication as above. Fused
  // operations multiply each kind once in the first layer, leave out the atoms of the last layer of the position pass
  // and embed each distance once for both directions.
  const bool fused = kernels == Kernels::fused;
  double rows = passes * layers * (4 * n + edges);
  if (fused && layers > 1) rows -= passes * (4 * n + edges) + (passes > 1 ? 2 * n : 0);
  const double distances = s.use_positions ? (fused ? 1 : 2) * edges * g * (g + d) : 0;
  const double decoders = (s.reconstruct_features ? s.mask_ratio * n * d * (d + types) : 0) +
                          (s.use_positions && s.reconstruct_positions ? edges / 2 * d * 128 : 0);
  e.flops = 6 * (rows * d * d + distances + decoders);

  // The prepared set: positions, edges, kinds. A step: states of atoms and bonds in every layer, of which fused
  // operations hold about half of one pass at a time.
  const double prepared =
      static_cast<double>(counts.atoms_at_once) * (8 * k + 4) + 2 * static_cast<double>(counts.bonds_at_once) * 16;
  const double states =
      4 * d * passes * layers * (fused ? 6 * n + 6 * edges : 15 * n + 30 * edges) + 4 * edges * g * (fused ? 2 : 16);
  const double held = fused ? 4 * d * layers * (3 * n + 3.5 * edges) + 4 * edges * g * 2 : states;
  e.bytes = static_cast<int64_t>(2.5e8 + weights + prepared + held / steps);

  const Rates rates = probe(kernels, threads);
  e.seconds = e.flops / (0.7 * rates.flops) + (3 * states + 2 * steps * weights) / rates.bytes;
  return e;
}

std::vector<std::pair<std::string, std::vector<int64_t>>> molecule_shapes(const MoleculeCounts& counts,
                                                                          const Settings& settings) {
  const InputShape& shape = counts.shape;
  const int64_t steps = counts.steps(settings);
  const auto per_step = [&](int64_t count) { return (count + steps - 1) / steps; };
  std::vector<std::pair<std::string, std::vector<int64_t>>> shapes = {
      {"molecules", {counts.rows}},
      {"steps of an epoch", {steps}},
      {"atoms of a step, codes", {per_step(counts.atoms), static_cast<int64_t>(shape.atom_codes.size())}},
      {"bonds of a step, codes", {per_step(counts.bonds), static_cast<int64_t>(shape.bond_codes.size())}}};
  if (settings.use_positions)
    shapes.push_back({"positions of a step", {per_step(counts.atoms), settings.eigenvectors}});
  const GraphPae model(settings, shape);
  for (const auto& [name, tensor] : named_tensors(model)) shapes.emplace_back(name, tensor.sizes().vec());
  return shapes;
}

}  // namespace

namespace {

// From one sample, which is as large as the others.
Estimate estimate_samples(const Graph& graph, const Settings& s, Kernels kernels, Threads threads) {
  NeighbourSampler sampler(graph.adjacency(), sampling_options(s));
  const int64_t batch = std::min(s.batch_size, graph.num_nodes());
  std::vector<int32_t> seeds = stream_of(s, Stream::order, 0).permutation(static_cast<int32_t>(graph.num_nodes()));
  seeds.resize(static_cast<size_t>(batch));
  const SampledNeighbourhood sample = sampler.sample(seeds, stream_of(s, Stream::sampling, 0), threads);
  const size_t layers = sample.reach.size() - 1;
  const auto rows = [&](size_t hops) { return static_cast<double>(sample.reach[hops]); };
  const double n = static_cast<double>(graph.num_nodes()), steps = std::ceil(n / static_cast<double>(batch));
  const double f = static_cast<double>(graph.features().columns()), d = static_cast<double>(s.width),
               h = static_cast<double>(s.heads), edges = static_cast<double>(sample.sources.size());
  const double passes = s.dual_path && s.use_positions && s.reconstruct_positions ? 2 : 1;
  const bool fused = kernels == Kernels::fused, sparse = graph.features().is_sparse();

  Estimate e;
  for (const auto& parameter : GraphPae(s, input_shape(graph)).parameters()) e.parameters += parameter.numel();
  const double weights = 4 * 4 * static_cast<double>(e.parameters);
  // The rows that layer l multiplies: what it makes if sums are taken first, otherwise what it reads.
  double products = 0, states = 0;
  for (size_t l = 0; l < layers; ++l) {
    const double stored = fused && sparse ? static_cast<double>(graph.features().nonzeros()) / n : f;  // of a row
    const double in = l == 0 ? stored : d, reads = rows(layers - l), makes = rows(layers - 1 - l);
    const bool sums_first = fused && !(l == 0 && sparse);
    products += (sums_first ? makes : reads) * in * d;
    states += sums_first ? reads * in + makes * (h * in + 2 * d) : reads * (3 * d + (fused ? 0 : in));
    if (!fused) states += 2.3 * static_cast<double>(sample.offsets[sample.reach[layers - 1 - l]]) * d;
  }
  const double masked = s.mask_ratio * static_cast<double>(batch);
  e.flops = 6 * steps * (passes * products + (s.reconstruct_features ? masked * d * (d + f) : 0));
  const double k = static_cast<double>(s.use_positions ? s.eigenvectors : 0);
  // Two batches are there: one is learnt from, one is made. One pass at a time is held, forward and backward.
  const double batches = 2 * (rows(layers) * (4 * f + 8 * k) + edges * 60);
  e.bytes =
      static_cast<int64_t>(2.5e8 + weights + 4 * static_cast<double>(graph.adjacency().neighbours().size()) +
                           n * (4 * f + 16 * k) + batches + 2 * 4 * states * (fused ? 1 : passes) + edges * h * 4 * 6);
  const Rates rates = probe(kernels, threads);
  const double gathered = 4 * edges * (f + d) * 3 * passes;
  e.seconds = e.flops / (0.7 * rates.flops) + steps * (passes * 4 * states * 3 + gathered + weights * 2) / rates.bytes;
  return e;
}

}  // namespace

Estimate estimate(const Graph& graph, const Settings& s, Kernels kernels, Threads threads) {
  if (s.batch_size > 0) return estimate_samples(graph, s, kernels, threads);
  const double n = static_cast<double>(graph.num_nodes()), f = static_cast<double>(graph.features().columns());
  const double nonzeros = static_cast<double>(graph.features().nonzeros());
  const double edges = static_cast<double>(graph.adjacency().neighbours().size()) + n;
  const double d = static_cast<double>(s.width), layers = static_cast<double>(s.layers),
               h = static_cast<double>(s.heads);
  const double g = static_cast<double>(s.gaussians), masked = s.mask_ratio * n;
  const double passes = s.dual_path && s.use_positions && s.reconstruct_positions ? 2 : 1;
  const bool fused = kernels == Kernels::fused;

  Estimate e;
  const double encoder =
      f * d + (layers - 1) * d * d + layers * 3 * d + f + (s.use_positions ? g * (g + h + 3) + h : 0);
  const double feature_parameters = s.reconstruct_features ? d * d + d * f + 3 * d + f : 0;
  const double position_decoder = s.use_positions && s.reconstruct_positions ? 128 * (h + 4) + 1 : 0;
  e.parameters = static_cast<int64_t>(encoder + feature_parameters + position_decoder);

  // A product costs two operations per multiplication forward and twice that backward. Fused operations leave most of
  // the work of the first layer and of the distances undone, and the last layer's at nodes that are not masked where
  // that pays (ops/attention_ops.h).
  const bool drops = s.dropout > 0;
  const double input_product =
      fused ? 3 * nonzeros * d + (drops && s.corrupt_features ? masked * f * d / 4 / passes : 0) : n * f * d;
  const bool at_masked = 20 * s.mask_ratio * edges * (1 + h) < 3 * (n - masked) * d + 24 * edges;
  double deep_rows = (passes * (layers - 1)) * n;
  if (fused && layers > 1) deep_rows -= (passes > 1 ? n : 0) + (at_masked ? n - masked : 0);
  const double last_product = std::min(3 * masked * d * f, fused ? 2 * d * d * f + 2 * masked * d * d : HUGE_VAL) / 3;
  const double feature_decoder = s.reconstruct_features ? masked * d * d + last_product : 0;
  const double distances = s.use_positions ? (fused ? 0.02 : 2) * edges * g * g : 0;
  e.flops = 6 * (passes * input_product + deep_rows * d * d + feature_decoder + distances);

  const double weights = 4 * 4 * static_cast<double>(e.parameters);  // values, gradients, two moments
  const double graph_bytes =
      8 * nonzeros + edges * (4 + 4 + 8 + 4 * h * 6) + 8 * n * static_cast<double>(s.eigenvectors);
  const double states = 4 * n * d * passes * (fused ? 4 * layers + 2 : 6 * layers);
  const double messages = fused ? 0 : 4 * edges * d * 2.3 * passes * layers + 4 * edges * g * 8 + 4 * n * f * 4;
  e.bytes = static_cast<int64_t>(2.5e8 + weights + graph_bytes + states + messages + 4 * masked * (f + 4 * d));

  const Rates rates = probe(kernels, threads);
  // Fused sums over edges gather from caches, three times as fast as from memory.
  const double gathered = fused ? 4 * edges * d * 3 * (passes * layers - (passes > 1 ? 1 : 0)) / 3 : 0;
  const double traffic = weights * 2 + states + messages * (fused ? 0 : 12) + gathered;
  e.seconds = e.flops / (0.85 * rates.flops) + traffic / rates.bytes;
  return e;
}

std::vector<std::pair<std::string, std::vector<int64_t>>> model_shapes(const Graph& graph, const Settings& settings) {
  std::vector<std::pair<std::string, std::vector<int64_t>>> shapes = {
      {"features X", {graph.num_nodes(), graph.features().columns()}},
      {"edges with self loops", {static_cast<int64_t>(graph.adjacency().neighbours().size()) + graph.num_nodes()}}};
  if (settings.use_positions) shapes.push_back({"positions U", {graph.num_nodes(), settings.eigenvectors}});
  const GraphPae model(settings, input_shape(graph));
  for (const auto& [name, tensor] : named_tensors(model)) shapes.emplace_back(name, tensor.sizes().vec());
  return shapes;
}

std::vector<std::pair<std::string, std::vector<int64_t>>> model_shapes(const GraphSet& molecules,
                                                                       const Settings& settings) {
  return molecule_shapes(counts_of(molecules), settings);
}

std::vector<std::pair<std::string, std::vector<int64_t>>> model_shapes(const ShardSet& shards,
                                                                       const Settings& settings) {
  return molecule_shapes(counts_of(shards), settings);
}

Estimate estimate(const GraphSet& molecules, const Settings& settings, Kernels kernels, Threads threads) {
  return estimate_molecules(counts_of(molecules), settings, kernels, threads);
}

Estimate estimate(const ShardSet& shards, const Settings& settings, Kernels kernels, Threads threads) {
  return estimate_molecules(counts_of(shards), settings, kernels, threads);
}

namespace {

// A pre-training of the feature path with next to nothing to decode.
template <class Data>
Estimate estimate_encoder(const Data& data, Settings settings, Kernels kernels, Threads threads) {
  settings.reconstruct_features = true;
  settings.reconstruct_positions = false;
  settings.mask_ratio = 0.01;
  Estimate e = estimate(data, settings, kernels, threads);
  e.parameters = 0;
  const GraphPae model(settings, input_shape(data));
  for (const auto& parameter : model.encoder->parameters()) e.parameters += parameter.numel();
  return e;
}

}  // namespace

Estimate estimate_finetuning(const Graph& graph, const Settings& settings, Kernels kernels, Threads threads) {
  return estimate_encoder(graph, settings, kernels, threads);
}

Estimate estimate_finetuning(const GraphSet& molecules, const Settings& settings, Kernels kernels, Threads threads) {
  return estimate_encoder(molecules, settings, kernels, threads);
}

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

namespace {

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

void check_trainable(const GraphSet& molecules, const Settings& settings) {
  featurizer_of(molecules);
  check_molecule_settings(settings, largest_batch(molecules, settings));
}

void check_trainable(const ShardSet& shards, const Settings& settings) {
  const ShardManifest& m = shards.manifest();
  const int64_t most = settings.batch_size == 0 ? m.atoms() : std::min(m.atoms(), settings.batch_size * m.largest);
  check_molecule_settings(settings, most);
  check_settings(shards, settings);
}

}  // namespace graphpae
