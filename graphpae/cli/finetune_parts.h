// What `finetune` trains: one model, or one per split of a graph, or one per target of molecules.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graphpae/cli/command.h"
#include "graphpae/core/graph.h"
#include "graphpae/core/graph_set.h"
#include "graphpae/model/predictor.h"
#include "graphpae/train/inputs.h"
#include "graphpae/train/objective.h"

namespace graphpae::cli {

struct FinetunePart {
  std::string name;       // of the target or split; "" for the only one
  std::string directory;  // "targets/mu", "splits/0"; "" for the run directory itself
  std::shared_ptr<Objective> objective;
  // Scores of a finished model: metric, validation, test and more.
  std::function<Json(Predictor&)> score;
};

struct PartOptions {
  std::vector<std::string> targets;  // of molecules; empty: all
  bool one_at_a_time = false;        // a model per target
};

// The names among `all` that are wanted, as places; all if none is. Throws a usage error that suggests a name.
std::vector<int64_t> choose_targets(const std::vector<std::string>& all, const std::vector<std::string>& wanted);

// Molecules without a split are split by scaffold. Throws a data error if the data have no labels, a graph without a
// split, and what objectives throw.
std::vector<FinetunePart> finetune_parts(const GraphSet& set, const std::shared_ptr<const MoleculeInputs>& input,
                                         const Settings& settings, const FinetuneSettings& finetune,
                                         const PartOptions& options, std::vector<std::string>& notes);
std::vector<FinetunePart> finetune_parts(const Graph& graph, const GraphInput& input, const Settings& settings,
                                         const FinetuneSettings& finetune, const PartOptions& options,
                                         std::vector<std::string>& notes);

}  // namespace graphpae::cli
