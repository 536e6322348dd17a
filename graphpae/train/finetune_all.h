// Fine-tuning and prediction in one call each, without a run directory.
#pragma once

#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/core/graph_set.h"
#include "graphpae/model/inputs.h"
#include "graphpae/model/predictor.h"
#include "graphpae/settings/finetune_settings.h"

namespace graphpae {

// All epochs on the training part of a split; the epoch that `finetune.protocol` says is kept. `pretrained` may be
// null: then the encoder starts as settings.seed draws it. Nodes learn their classes, molecules all targets together.
Predictor finetune(const Model* pretrained, const Graph& graph, const Settings& settings,
                   const FinetuneSettings& finetune, const Split& split, const InputOptions& options = {});
Predictor finetune(const Model* pretrained, const GraphSet& molecules, const Settings& settings,
                   const FinetuneSettings& finetune, const Split& split, const InputOptions& options = {});

// Probabilities of classes [N,C] of the nodes of any graph with the same features, or targets [G,T] of any molecules;
// NaN for a molecule without atoms.
std::vector<double> predict(Predictor& predictor, const Graph& graph, const InputOptions& options = {});
std::vector<double> predict(Predictor& predictor, const GraphSet& molecules, const InputOptions& options = {});

}  // namespace graphpae
