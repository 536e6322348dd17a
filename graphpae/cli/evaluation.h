// Evaluation for the verbs evaluate, pretrain and demo: which splits and protocols, every number beside its baselines.
// Of one graph; molecule_evaluation.h has functions of the same names for molecules.
#pragma once

#include <functional>
#include <memory>

#include "graphpae/cli/run_flags.h"
#include "graphpae/evaluate/protocols.h"
#include "graphpae/train/representations.h"

namespace graphpae::cli {

struct EvaluateFlags {
  std::string protocol = "strict", split;
  std::string probe;  // "": adam
  std::string baselines = "all";
  int64_t num_splits = 0;   // 0: ten
  int64_t split_seed = -1;  // -1: zero
  int64_t seeds = 0;        // 0: so many that splits x seeds is at least ten
  bool stratified = false, dedupe = false;
};
// `switch_flag`: what must be given for the flags to mean anything, if not null.
void add_evaluate_flags(CLI::App& app, EvaluateFlags& flags, CLI::Option* switch_flag = nullptr);

// --protocol strict, paper or both.
struct Protocols {
  bool strict, paper;
};
Protocols parse_protocols(const std::string& text);
bool wants_baselines(const EvaluateFlags& flags);  // --baselines all or none

// Everything decided before the first probe. Refers to the graph.
struct EvaluationPlan {
  const Graph& graph;
  std::vector<Split> splits;  // labelled nodes only
  EvaluateOptions options;
  std::string split_source;  // "from the data" or "random 60/20/20"
  bool dedupe = false, baselines = true;
  int64_t test_nodes = 0;  // over all splits, before dedupe
  int64_t test_twins = 0;  // of those, with a twin in training
};

// Throws a usage or data error if there is nothing to evaluate: no labels, no such split.
EvaluationPlan plan_evaluation(const Graph& graph, const Settings& settings, const EvaluateFlags& flags,
                               const Common& common, std::vector<std::string>& notes);

inline constexpr const char* kAgainst = "against";

// One line of the table. A row with the key kAgainst is another model that the first row is compared with.
struct EvaluationRow {
  std::string key, title;
  Evaluation evaluation;
};

// Sees the embeddings [rows,D] of the first model before they are probed.
using RowObserver = std::function<void(const Features&)>;

Evaluation probe_rows(const EvaluationPlan& plan, const std::string& what, const Features& rows, const Common& common);

// Probes the embeddings of the models (runs that differ in their seeds; their scores are joined) and the baselines:
// "embeddings", "untrained", "raw_features", "raw_positions", "majority".
std::vector<EvaluationRow> run_evaluation(const EvaluationPlan& plan,
                                          const std::vector<std::shared_ptr<GraphPae>>& models,
                                          const PreparedGraph& input, const InputOptions& options, const Common& common,
                                          const RowObserver& observe = {});

// The row of the model that --against names.
EvaluationRow against_row(const EvaluationPlan& plan, const std::string& name, GraphPae& model,
                          const InputOptions& options, const Common& common);

}  // namespace graphpae::cli
