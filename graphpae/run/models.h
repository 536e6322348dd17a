// Models and their inputs as verbs handle them: handles whose inside only LibTorch's side sees.
#pragma once

#include <memory>
#include <string>

#include "graphpae/core/graph_set.h"
#include "graphpae/run/context.h"
#include "graphpae/settings/settings.h"

namespace graphpae {
class Model;
struct InputOptions;
struct InputShape;
}  // namespace graphpae

namespace graphpae::run {

// Of a run or model directory, as graphpae::load_model.
std::shared_ptr<Model> load_model(const std::string& path);
const Settings& settings_of(const Model& model);

// The featurizer that makes codes of such a shape: "ogb", "transfer"; "" for one graph.
std::string featurizer_of(const Model& model);
std::string featurizer_of(const InputShape& shape);

// The SMILES, by which rows find their molecules again; nothing for mol blocks.
TextColumn molecule_names(const GraphSet& set);

// How a verb prepares its data for a model: with the threads, kernels and cache of its context, which sees how far the
// positions are ("eigenpairs" of a graph, or "molecules"). The context may go. Data: Graph, GraphSet or ShardSet.
template <class Data>
InputOptions input_options(const Context& context, const Data& data, const Settings& settings);

}  // namespace graphpae::run
