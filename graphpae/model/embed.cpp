#include "graphpae/model/embed.h"

#include <fmt/format.h>
#include <torch/torch.h>

#include <algorithm>
#include <limits>

#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/data/molecule_shards.h"
#include "graphpae/model/prefetcher.h"
#include "graphpae/ops/tensor_memory.h"
#include "graphpae/settings/feature_plan.h"
#include "graphpae/settings/streams.h"

namespace graphpae {

void check_features(const Model& model, const Graph& graph) {
  if (model.settings().encoder != EncoderKind::gat)
    throw data_error("the model was trained on molecules, the data are one graph");
  const InputShape& shape = model.input_shape();
  const int64_t wanted = shape.features, found = graph.features().columns();
  if (shape.plan && !graph.feature_plan()) {
    shape.plan->check_fits(graph);
  } else if (wanted != found) {
    throw data_error(fmt::format("the model was trained on {} features per node, the data have {}", wanted, found));
  }
  if (graph.feature_plan() || (shape.plan && !shape.plan->takes_given)) return;  // the data have been looked at
  const std::vector<std::string>& names = shape.feature_names;
  if (!names.empty() && !graph.feature_names().empty() && names != graph.feature_names())
    throw data_error("the feature columns of the data have other names than those of the model, or another order");
}

void check_features(const Model& model, const GraphSet& molecules) {
  if (model.settings().encoder != EncoderKind::gated_gcn)
    throw data_error("the model was trained on one graph, the data are molecules");
  const Featurizer found = featurizer_of(molecules);
  const InputShape shape = input_shape(molecules);
  if (shape.atom_codes == model.input_shape().atom_codes && shape.bond_codes == model.input_shape().bond_codes) return;
  const Featurizer wanted = found == Featurizer::ogb ? Featurizer::transfer : Featurizer::ogb;
  throw data_error(fmt::format("the model was trained on codes of featurizer {}, the data have those of {}",
                               name_of(wanted), name_of(found)));
}

namespace {

void tell(const NoteCallback& note, const std::vector<std::string>& lines) {
  for (const std::string& line : lines) {
    if (note) note(line);
  }
}

}  // namespace

std::shared_ptr<const Graph> as_seen(const Model& model, const Graph& graph, const NoteCallback& note) {
  check_features(model, graph);
  std::vector<std::string> notes;
  auto seen = follow(model.input_shape().plan, graph, notes, all_threads());
  check_features(model, *seen);
  tell(note, notes);
  return seen;
}

std::shared_ptr<const GraphSet> as_seen(const Model& model, const GraphSet& molecules, const NoteCallback&) {
  check_features(model, molecules);
  return {std::shared_ptr<void>(), &molecules};
}

std::shared_ptr<const Graph> as_learnt(const Settings& settings, const Graph& graph, const NoteCallback& note,
                                       Threads threads) {
  std::vector<std::string> notes;
  auto plan = fit_features(graph, settings, notes, threads);
  auto seen = follow(std::move(plan), graph, notes, threads);
  tell(note, notes);
  return seen;
}

Settings with_chosen_features(Settings settings, const Graph& graph, const NoteCallback& note) {
  std::vector<std::string> notes;
  choose_features(settings, graph, notes);
  tell(note, notes);
  return settings;
}

torch::Tensor embed(Model& model, const Graph& graph, const InputOptions& options) {
  const auto seen = as_seen(model, graph, options.note);
  return embed(model, prepare(*seen, model.settings(), options));
}

namespace {

// From samples, those of the model's seed.
void embed_sampled(Model& model, const PreparedGraph& graph, const RowSink& sink) {
  const Settings& settings = model.settings();
  const int64_t n = graph.graph->num_nodes(), batch = std::min(std::max<int64_t>(settings.batch_size, 1), n);
  NeighbourSampler sampler(graph.graph->adjacency(), sampling_options(settings));
  const std::vector<int32_t> all = row_range(0, n);
  const auto make = [&](int64_t, int64_t step) {
    const auto seeds = std::span<const int32_t>(all).subspan(static_cast<size_t>(step * batch),
                                                             static_cast<size_t>(std::min(batch, n - step * batch)));
    const Rng rng = stream_of(settings, Stream::sampling, -1 - step);  // none that training uses
    return sample_input(graph, sampler.sample(seeds, rng, Threads{1}));
  };
  const int64_t steps = (n + batch - 1) / batch;
  Prefetcher prefetcher(make, steps, 1);
  for (int64_t step = 0; step < steps; ++step) {
    const GraphInput& input = prefetcher.input(0, step);
    const torch::Tensor rows = model.embed(input).contiguous();
    sink(step * batch, input.seeds, rows.data_ptr<float>());
  }
}

// Bytes that Model::embed uses beyond the prepared graph, roughly.
int64_t whole_embedding_bytes(const PreparedGraph& graph, const Settings& settings) {
  const int64_t n = graph.graph->num_nodes();
  const int64_t edges = static_cast<int64_t>(graph.graph->adjacency().neighbours().size()) + n;
  return n * settings.width * 4 * 4 + edges * (4 * 7 + 16 + 4 * settings.heads * 3);
}

// Bytes that may still be used.
int64_t bytes_left(const EmbedOptions& options) {
  return (options.memory > 0 ? options.memory - resident_memory() : available_memory()) + kept_tensor_memory();
}

bool at_once(const Model& model, const PreparedGraph& graph, const EmbedOptions& options) {
  if (options.sampled) return false;
  return !can_embed_layerwise(model) || graph.kernels == Kernels::reference ||
         whole_embedding_bytes(graph, model.settings()) <= bytes_left(options);
}

torch::Tensor whole_rows(Model& model, const PreparedGraph& graph) {
  model.eval();
  return model.embed(whole_input(graph)).contiguous();
}

}  // namespace

torch::Tensor embed(Model& model, const PreparedGraph& graph, const EmbedOptions& options) {
  if (at_once(model, graph, options)) return whole_rows(model, graph);
  const int64_t width = model.settings().width;
  torch::Tensor rows = torch::empty({graph.graph->num_nodes(), width}, torch::kFloat32);
  embed(model, graph, options, [&](int64_t first, int64_t count, const float* values) {
    std::copy_n(values, count * width, rows.data_ptr<float>() + first * width);
  });
  return rows;
}

void embed(Model& model, const PreparedGraph& graph, const EmbedOptions& options, const RowSink& sink) {
  model.eval();
  if (options.sampled) return embed_sampled(model, graph, sink);
  if (at_once(model, graph, options)) {
    const torch::Tensor rows = whole_rows(model, graph);
    return sink(0, rows.size(0), rows.data_ptr<float>());
  }
  embed_layerwise(model, graph, std::max<int64_t>(bytes_left(options), 1), sink, options.progress);
}

torch::Tensor embed(Model& model, const GraphSet& molecules, const InputOptions& options) {
  check_features(model, molecules);
  return embed(model, *prepare(molecules, model.settings(), options));
}

torch::Tensor embed(Model& model, const MoleculeInputs& molecules, int64_t batch_size) {
  model.eval();
  torch::Tensor rows = torch::full({molecules.num_molecules(), model.settings().width},
                                   std::numeric_limits<float>::quiet_NaN(), torch::kFloat32);
  const std::span<const int32_t> all = molecules.with_atoms();
  for (size_t first = 0; first < all.size(); first += static_cast<size_t>(batch_size)) {
    const auto chosen = all.subspan(first, std::min(static_cast<size_t>(batch_size), all.size() - first));
    const GraphInput input = molecules.batch(chosen);
    const torch::Tensor pooled = pool(model.embed(input), input.graph_offsets, model.settings().pooling).contiguous();
    for (size_t m = 0; m < chosen.size(); ++m) rows[chosen[m]].copy_(pooled[static_cast<int64_t>(m)]);
  }
  return rows;
}

}  // namespace graphpae
