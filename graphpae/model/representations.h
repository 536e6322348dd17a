// What a probe may be given for the nodes of a graph or for molecules: the embeddings of a model, and what they must be
// better than.
#pragma once

#include "graphpae/model/embed.h"

namespace graphpae {

// A model of the same shape and seed that learnt nothing.
std::shared_ptr<Model> untrained(const Model& model);

// Rows [N,D] of a contiguous tensor of numbers as features.
Features features_of(const torch::Tensor& rows);

Features embedded_rows(Model& model, const PreparedGraph& input, const EmbedOptions& options = {});  // [N,d_h]
Features raw_feature_rows(const Graph& graph, const Settings& settings);  // [N,F] as the encoder sees them
Features raw_position_rows(const Graph& graph, const Settings& settings, const PreparedGraph& input,
                           const InputOptions& options);  // [N,K]

// The same for molecules, a row each; zeros for those without atoms, which belong to no split.
Features embedded_rows(Model& model, const std::shared_ptr<const MoleculeInputs>& molecules);  // [G,d_h]
// The codes of the atoms, one-hot, pooled as the model pools. [G, values of all atom codes together]
Features raw_feature_rows(const GraphSet& molecules, const Settings& settings);

}  // namespace graphpae
