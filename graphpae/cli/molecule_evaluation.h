// Evaluation of molecules: as evaluation.h, with functions of the same names.
#pragma once

#include "graphpae/cli/evaluation.h"
#include "graphpae/evaluate/graph_protocols.h"

namespace graphpae::cli {

// Everything decided before the first probe. Refers to the molecules.
struct MoleculePlan {
  const GraphSet& set;
  GraphTargets targets;
  GraphMetric metric;
  std::vector<Split> splits;
  GraphEvaluateOptions options;
  std::string split_source;     // "from the data", "by scaffold" or "random 80/10/10"
  int64_t training_labels = 0;  // of all tasks and splits, present or missing
  int64_t missing_labels = 0;   // of those; the protocols differ only if there are any
  bool baselines = true;
};

// Throws a usage error for flags that are for one graph, a data error if there is nothing to evaluate: no labels, no
// such split, a split with a row without atoms.
MoleculePlan plan_evaluation(const GraphSet& set, const Settings& settings, const EvaluateFlags& flags,
                             const Common& common, std::vector<std::string>& notes);

// One line of the table. A row with the key kAgainst is another model that the first row is compared with.
struct MoleculeRow {
  std::string key, title;
  std::vector<GraphEvaluation> evaluations;  // [splits, runs]
};

// Probes the embeddings of the models (runs that differ in their seeds) and the baselines: "embeddings", "untrained",
// "raw_features", "majority" (a constant).
std::vector<MoleculeRow> run_evaluation(const MoleculePlan& plan, const std::vector<std::shared_ptr<GraphPae>>& models,
                                        const std::shared_ptr<const MoleculeInputs>& input, const InputOptions& options,
                                        const Common& common, const RowObserver& observe = {});

MoleculeRow against_row(const MoleculePlan& plan, const std::string& name, GraphPae& model, const InputOptions& options,
                        const Common& common);

}  // namespace graphpae::cli
