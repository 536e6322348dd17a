// Fine-tuning as a verb: a run directory with an encoder and a head trained on labels.
#pragma once

#include <functional>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/core/graph_set.h"
#include "graphpae/core/metrics.h"
#include "graphpae/run/context.h"
#include "graphpae/run/evaluation.h"
#include "graphpae/run/run_directory.h"
#include "graphpae/train/estimate.h"

namespace graphpae {
class Model;
class Objective;
class Predictor;
struct InputOptions;
}  // namespace graphpae

namespace graphpae::run {

// What is trained: one model, or one per split of a graph, or one per target of molecules.
struct PartOptions {
  std::vector<std::string> targets;  // of molecules by name; empty: all
  bool one_at_a_time = false;        // a model per target
};

struct FinetuneOptions : RunOptions {
  FinetuneOptions() { checkpoint_every = 10; }

  std::shared_ptr<Model> model;  // to start from; null: none
  std::string model_name;
  bool from_scratch = false;  // the shape of the model, but weights drawn anew
  PartOptions parts;
  EvaluateOptions splits;  // of these only how the nodes of a graph are split
  Settings settings;       // of a new run, of the model's shape (finetune_settings())
  FinetuneSettings finetune;
  // What is asked of a run that goes on: from its settings to those, which may only repeat them. Empty: those above.
  std::function<void(Settings&, FinetuneSettings&)> again;
};

// One target of molecules on the test part; nothing where it could not be scored.
struct TargetResult {
  std::string name;
  bool classes = false;  // scored by ROC-AUC, and nothing else
  std::optional<double> rocauc;
  std::string unit, paper_unit;  // of the data, and of the paper's table; may be empty
  std::optional<double> mae, rmse, mae_over_std, mae_paper;
  double training_std = 1;  // of the training labels
};

// A row of the test part that has a label.
struct TestRow {
  int64_t row;  // of the input, from 0
  std::string target;
  double label, prediction;  // of classes: 0 or 1, and the probability of 1
};

// One model.
struct PartResult {
  std::string name;       // of the target or split; "" for the only one
  std::string directory;  // in the run's: "targets/mu", "splits/0"; "" for the only one
  std::string run;        // its whole path
  int64_t epochs = 0;
  std::optional<double> final_loss;
  double seconds = 0, seconds_per_epoch = 0;
  int64_t peak_bytes = 0;
  Protocol protocol = Protocol::strict;
  int64_t best_epoch = 0, reported_epoch = 0;
  bool stopped_early = false;
  std::string metric;
  std::optional<double> validation, test_mean;
  std::vector<std::pair<std::string, std::optional<double>>> test;  // by target, or "accuracy"
  std::vector<TargetResult> targets;                                // of molecules
  std::vector<TestRow> test_rows;                                   // of molecules, and of nodes of two classes
  std::string pretrained;                                           // what it started from, or "none"
  std::string split_source;                                         // of nodes, as in EvaluationFacts
  std::optional<uint64_t> split_seed;                               // of random ones
};

struct FinetuneResult {
  std::string run;
  std::vector<PartResult> parts;  // at least one

  bool has_parts() const { return !parts.front().directory.empty(); }
  bool of_splits() const { return parts.front().directory.starts_with("splits/"); }
  int64_t epochs() const;            // of the longest
  double seconds() const;            // of all
  double seconds_per_epoch() const;  // median
  std::vector<TargetResult> targets() const;
  std::vector<double> test_scores() const;  // test_mean of those that have one
};

// results.json of a part, and of all of them: a single part is what it is.
nlohmann::ordered_json results_json(const PartResult& result);
nlohmann::ordered_json results_json(const FinetuneResult& result);

// Trains on a Graph or GraphSet and writes the run directory. Throws usage and data errors for settings, labels and
// directories that do not fit, and interrupted errors.
template <class Data>
FinetuneResult finetune(const Data& data, const FinetuneOptions& options, const Context& context = {});

// Writes nothing.
template <class Data>
Estimate estimate_finetuning(const Data& data, const FinetuneOptions& options, const Context& context = {});

struct FinetunePart {
  std::string name, directory;  // as in PartResult
  std::shared_ptr<Objective> objective;
  // Scores of a finished model: metric, validation, test and more.
  std::function<void(Predictor&, PartResult&)> score;
  std::string split_source = {};  // of nodes
  std::optional<uint64_t> split_seed = {};
  std::optional<Split> drawn = {};  // a random split, which the data do not hold
};

// Prepares the data. Molecules without a split are split by scaffold, a graph without one at random as `evaluate`
// splits it; a run that goes on takes the splits it began with. Throws a data error if the data have no labels, a usage
// error that suggests a name for a target that is not there, and what objectives throw.
std::vector<FinetunePart> finetune_parts(const GraphSet& set, const FinetuneOptions& options,
                                         const InputOptions& inputs, std::vector<std::string>& notes);
std::vector<FinetunePart> finetune_parts(const Graph& graph, const FinetuneOptions& options, const InputOptions& inputs,
                                         std::vector<std::string>& notes);

}  // namespace graphpae::run
