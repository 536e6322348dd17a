// Evaluation of frozen embeddings, of nodes or of molecules: which splits and protocols, every number beside its
// baselines. The verb evaluate, and its three steps: plan_evaluation (all that can go wrong early), run_evaluation, and
// the table as JSON.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "graphpae/core/features.h"
#include "graphpae/core/graph.h"
#include "graphpae/core/graph_set.h"
#include "graphpae/core/metrics.h"
#include "graphpae/data/load.h"
#include "graphpae/evaluate/protocols.h"
#include "graphpae/run/context.h"
#include "graphpae/settings/settings.h"

namespace graphpae {
class Model;
class MoleculeInputs;
struct InputOptions;
struct PreparedGraph;
}  // namespace graphpae

namespace graphpae::run {

// Texts are as on the command line.
struct EvaluateOptions {
  std::string protocol = "strict";  // strict, paper or both
  std::string split;                // public, scaffold or random:[10x]60/20/20; "": public if the data have any
  std::string probe;                // tuned, released (adam) or lbfgs; "": tuned, and released under paper
  std::string metric = "auto";      // accuracy, roc_auc or auto: accuracy but for data known to be scored otherwise
  std::string labels_per_class;     // "1,5,20,100,all": few labels too; "": not
  std::string baselines = "all";    // all or none
  int64_t num_splits = 0;           // 0: ten
  int64_t split_seed = -1;          // -1: zero
  int64_t seeds = 0;                // 0: so many that splits x seeds is at least ten
  bool stratified = false, dedupe = false;
};

// What a reader of the scores must know.
struct EvaluationFacts {
  std::string metric;                               // "accuracy", "rocauc" or "rmse"
  bool resampled = false;                           // intervals of single scores are from resampled test rows
  std::vector<Protocol> protocols;                  // the honest one first
  std::string split_source;                         // "from the data", "by scaffold" or "random 60/20/20"
  std::optional<uint64_t> split_seed;               // of random ones
  std::vector<std::array<int64_t, 3>> split_sizes;  // train, validation, test

  // Of one graph.
  std::vector<std::string> classes;  // names
  ProbeOptions probe;                // of the strict protocol; paper has the released one
  double trained_share = 0;          // of the pooled test nodes of the paper protocol
  int64_t test_nodes = 0;            // over all splits, before dedupe
  int64_t test_twins = 0;            // of those, with a twin in training
  bool dedupe = false;

  // Of molecules.
  std::vector<std::string> tasks;  // names
  int64_t training_labels = 0;     // of all tasks and splits, present or missing
  int64_t missing_labels = 0;      // of those; the protocols differ only if there are any

  bool of_molecules() const { return classes.empty(); }
  bool errors() const { return metric == "rmse"; }  // smaller is better
  ProbeOptions probe_of(Protocol protocol) const;
};

class EvaluationSubject;  // run/evaluation_subject.h: nodes or molecules

// The metric of `auto`: ROC-AUC for data sets that are scored by it wherever they are published (minesweeper, tolokers,
// questions, by the name of the data), where the probe is the tuned one.
EvaluateOptions with_metric_of(EvaluateOptions options, const std::string& data);

// A list such as "1,5,20,all", ascending, 0 for all. Throws a usage error.
std::vector<int64_t> parse_label_counts(const std::string& text);

// Everything decided before the first probe. Refers to the data.
struct EvaluationPlan {
  EvaluationFacts facts;
  bool baselines = true;
  std::vector<int64_t> labels_per_class;  // 0: all; empty: no curves
  std::shared_ptr<const EvaluationSubject> subject;
};

// Throws a usage error for options that do not fit the data, and a usage or data error if there is nothing to evaluate:
// no labels, no such split. `notes` receives lines for the user.
EvaluationPlan plan_evaluation(const Graph& graph, const Settings& settings, const EvaluateOptions& options,
                               const Context& context, std::vector<std::string>& notes);
EvaluationPlan plan_evaluation(const GraphSet& molecules, const Settings& settings, const EvaluateOptions& options,
                               const Context& context, std::vector<std::string>& notes);

inline constexpr const char* kAgainst = "against";

// One line of the table. A row with the key kAgainst is another model that the first row is compared with.
struct EvaluationRow {
  std::string key, title;
  std::vector<ProtocolScores> scores;  // one per protocol
};

// What the embeddings are worth beside blocks that need no training, under the strict protocol. The best block and the
// weights of a combination are chosen on validation rows.
struct BlockVerdict {
  std::string best;                      // key of a block
  ProtocolScores combination, together;  // of all blocks; of these and the embeddings
  PairedDifference adds;                 // together minus combination; of errors, what is less
  std::string sentence;                  // for people
};

// How scores grow with labels: the same draws for every row.
struct FewLabels {
  std::vector<int64_t> per_class;  // labels of each class, 0: all there are
  std::vector<int64_t> draws;      // of each of these, splits x draws of a split
  struct Row {
    std::string key, title;
    std::vector<ProtocolScores> scores;  // one per entry of per_class; seeds are draws
  };
  std::vector<Row> rows;
};

struct EvaluationTable {
  EvaluationFacts facts;
  std::vector<EvaluationRow> rows;    // the first is the subject
  std::vector<EvaluationRow> blocks;  // strict scores alone; features and positions if they are not among the rows
  std::optional<BlockVerdict> verdict;
  std::optional<FewLabels> few_labels;
};

// What a probe is given of prepared data, which outlive it.
struct ProbeRows {
  std::function<Features(Model&)> embedded;
  // As the released implementation embeds a model trained on samples: for the paper protocol. Null: as all are.
  std::function<Features(Model&)> sampled = {};
  std::function<Features(const Settings&)> raw_positions = {};  // null: there are none
};
ProbeRows rows_of(const PreparedGraph& input, const InputOptions& options);
ProbeRows rows_of(const std::shared_ptr<const MoleculeInputs>& input, const InputOptions& options);

// Sees the embeddings [rows,D] of the first model before they are probed.
using RowObserver = std::function<void(const Features&)>;

// Probes the embeddings of the models (runs that differ in their seeds; their scores are joined) and the baselines:
// "embeddings", "untrained", "raw_features", "raw_positions" (of one graph), "majority"; then, where the probe is the
// tuned one, blocks and their combinations.
EvaluationTable run_evaluation(const EvaluationPlan& plan, const std::vector<std::shared_ptr<Model>>& models,
                               const ProbeRows& rows, const Watch& watch, const RowObserver& observe = {});

// The row of another model, of data prepared by its own settings: for the second place of the table.
EvaluationRow against_row(const EvaluationPlan& plan, const std::string& name, Model& model, const ProbeRows& rows,
                          const Watch& watch);

// What the probes had to say, each line once.
std::vector<std::string> notes_of(const ProtocolScores& scores);

// As in results.json and for --json.
nlohmann::ordered_json or_null(const std::optional<double>& value);
nlohmann::ordered_json evaluation_json(const EvaluationTable& table);
nlohmann::ordered_json statistics_json(const Statistics& statistics);  // mean, std and ci95 (null for one score)

// The verb: all of it.
struct EvaluatedRuns {
  std::string run, against;                    // run or model directories; `against` may be ""
  std::vector<std::shared_ptr<Model>> models;  // of `run`, then of runs that differ from it in their seeds only
  std::shared_ptr<Model> rival;                // of `against`, or null
};

// Throws a usage error if runs `also` named have the same seed, or differ in more than that.
EvaluatedRuns load_runs(const std::string& run, const std::vector<std::string>& also, const std::string& against);

// `settings` are those of the models, with what is asked of the probe; `name` of the data starts errors. A run gets a
// map of its embeddings.
EvaluationTable evaluate(const EvaluatedRuns& runs, const Dataset& dataset, const std::string& name,
                         const Settings& settings, const EvaluateOptions& options, const Context& context);

// Adds an evaluation to the results and the page of the run, if `run` is one.
void keep_evaluation(const std::string& run, const nlohmann::ordered_json& evaluation, const Watch& watch);

}  // namespace graphpae::run
