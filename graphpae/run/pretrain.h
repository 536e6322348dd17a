// Pre-training as a verb: a run directory from a graph, molecules or shards of molecules.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "graphpae/run/checks.h"
#include "graphpae/run/context.h"
#include "graphpae/run/evaluation.h"
#include "graphpae/run/run_directory.h"
#include "graphpae/run/team.h"
#include "graphpae/train/estimate.h"

namespace graphpae::run {

struct PretrainOptions : RunOptions {
  Settings settings;  // of a new run
  // What is asked of a run that goes on, given its settings: it may only repeat them. Empty: `settings`.
  std::function<Settings(const Settings& begun)> again;
  std::optional<EvaluateOptions> evaluate;  // probe the embeddings after training
  RowObserver observe;                      // sees those embeddings; may be empty
  std::vector<std::string> notes;           // for the user, said as soon as data and settings are known to fit
};

struct PretrainResult {
  std::string run;
  int64_t epochs = 0;
  std::vector<EpochMetrics> metrics;  // of every epoch, as in metrics.jsonl
  double seconds = 0, seconds_per_epoch = 0;
  std::string items;                       // "nodes" or "molecules", of an epoch of several steps; "" otherwise
  std::optional<double> items_per_second;  // nothing without epochs
  int64_t peak_bytes = 0;
  EmbeddingChecks checks;
  std::optional<EvaluationTable> evaluation;

  std::optional<double> final_loss() const;
};
nlohmann::ordered_json results_json(const PretrainResult& result);  // results.json

// Trains on a Graph, GraphSet or ShardSet, alone or in a team, and writes the run directory; of a team only rank 0
// does, and the results of others hold the metrics at most. Throws usage errors for settings and directories that do
// not fit, memory errors before it starts, and interrupted errors.
template <class Data>
PretrainResult pretrain(const Data& data, const PretrainOptions& options, const Context& context = {},
                        const Team& team = {});

// Writes nothing.
template <class Data>
Estimate estimate_pretraining(const Data& data, const PretrainOptions& options, const Context& context = {});

}  // namespace graphpae::run
