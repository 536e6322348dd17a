// Frozen representations of nodes and molecules.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "graphpae/model/inputs.h"
#include "graphpae/model/layerwise.h"
#include "graphpae/model/model.h"

namespace graphpae {

// Throws a data error naming both if the data are not described as those the model was trained on: another number of
// features, another featurizer, molecules instead of a graph.
void check_features(const Model& model, const Graph& graph);
void check_features(const Model& model, const GraphSet& molecules);

// The data as the model sees them: a graph with the features of its plan (settings/feature_plan.h). Without one, the
// data themselves, which must outlive the result. Throws as check_features. `note` is told what a user should know.
using NoteCallback = std::function<void(const std::string&)>;
std::shared_ptr<const Graph> as_seen(const Model& model, const Graph& graph, const NoteCallback& note = {});
std::shared_ptr<const GraphSet> as_seen(const Model& model, const GraphSet& molecules, const NoteCallback& note = {});

// The same for a model that is yet to be made; a new run chooses its settings of features first (choose_features()).
// Throws as fit_features.
std::shared_ptr<const Graph> as_learnt(const Settings& settings, const Graph& graph, const NoteCallback& note = {},
                                       Threads threads = {});
Settings with_chosen_features(Settings settings, const Graph& graph, const NoteCallback& note = {});
template <class Molecules>  // GraphSet or ShardSet: as they are
std::shared_ptr<const Molecules> as_learnt(const Settings&, const Molecules& molecules, const NoteCallback& = {},
                                           Threads = {}) {
  return {std::shared_ptr<void>(), &molecules};
}
template <class Molecules>
Settings with_chosen_features(Settings settings, const Molecules&, const NoteCallback& = {}) {
  return settings;
}

// Frozen node representations [N,d_h] float32 of any graph with the features the model was trained on.
torch::Tensor embed(Model& model, const Graph& graph, const InputOptions& options = {});

// How the nodes of a graph are embedded. Exactly: all at once where that fits into memory, otherwise layer after layer
// (layerwise.h). Or as the released implementation embeds a model trained on samples: from samples.
struct EmbedOptions {
  bool sampled = false;
  int64_t memory = 0;    // bytes of this process that may be resident; 0: what the machine has
  RowProgress progress;  // layer after layer only
};
torch::Tensor embed(Model& model, const PreparedGraph& graph, const EmbedOptions& options = {});
// The same in blocks of rows, which need not fit into memory together.
void embed(Model& model, const PreparedGraph& graph, const EmbedOptions& options, const RowSink& sink);
// One row per molecule [G,d_h] float32, pooled as settings say; NaN for a molecule without atoms.
torch::Tensor embed(Model& model, const GraphSet& molecules, const InputOptions& options = {});
torch::Tensor embed(Model& model, const MoleculeInputs& molecules, int64_t batch_size = 256);

}  // namespace graphpae
