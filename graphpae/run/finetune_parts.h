// What fine-tuning trains: one model, or one per split of a graph, or one per target of molecules.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/core/graph_set.h"
#include "graphpae/run/finetune_results.h"
#include "graphpae/settings/finetune_settings.h"

namespace graphpae {
class MoleculeInputs;
class Objective;
class Predictor;
struct GraphInput;
}  // namespace graphpae

namespace graphpae::run {

struct FinetunePart {
  std::string name, directory;  // as in PartResult
  std::shared_ptr<Objective> objective;
  // Scores of a finished model: metric, validation, test and more.
  std::function<void(Predictor&, PartResult&)> score;
};

struct PartOptions {
  std::vector<std::string> targets;  // of molecules by name; empty: all
  bool one_at_a_time = false;        // a model per target
};

// Molecules without a split are split by scaffold. Throws a data error if the data have no labels, a graph without a
// split, a usage error that suggests a name for a target that is not there, and what objectives throw.
std::vector<FinetunePart> finetune_parts(const GraphSet& set, const std::shared_ptr<const MoleculeInputs>& input,
                                         const Settings& settings, const FinetuneSettings& finetune,
                                         const PartOptions& options, std::vector<std::string>& notes);
std::vector<FinetunePart> finetune_parts(const Graph& graph, const GraphInput& input, const Settings& settings,
                                         const FinetuneSettings& finetune, const PartOptions& options,
                                         std::vector<std::string>& notes);

}  // namespace graphpae::run
