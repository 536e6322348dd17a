// Fine-tuning as a verb: a run directory with an encoder and a head trained on labels.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "graphpae/core/graph.h"
#include "graphpae/core/graph_set.h"
#include "graphpae/run/context.h"
#include "graphpae/run/finetune_parts.h"
#include "graphpae/run/finetune_results.h"
#include "graphpae/run/training_estimate.h"
#include "graphpae/settings/finetune_settings.h"
#include "graphpae/settings/settings.h"

namespace graphpae {
class Model;
}

namespace graphpae::run {

struct FinetuneOptions {
  std::string run;                     // directory
  bool resume = false, force = false;  // go on with what is there, or start anew
  int64_t checkpoint_every = 10;       // epochs
  std::string data;                    // its name in errors and files
  std::string featurizer;              // that molecules were read with, for config.yaml; may be empty
  std::shared_ptr<Model> model;        // to start from; null: none
  std::string model_name;
  bool from_scratch = false;  // the shape of the model, but weights drawn anew
  PartOptions parts;
  Settings settings;  // of a new run, of the model's shape (run_settings.h, finetune_settings)
  FinetuneSettings finetune;
  // What is asked of a run that goes on: from its settings to those, which may only repeat them. Empty: those above.
  std::function<void(Settings&, FinetuneSettings&)> again;

  bool goes_on() const;  // `resume`, and there is a run
};

// Trains and writes the run directory. Throws usage and data errors for settings, labels and directories that do not
// fit, and interrupted errors.
FinetuneResult finetune(const Graph& graph, const FinetuneOptions& options, const Context& context = {});
FinetuneResult finetune(const GraphSet& molecules, const FinetuneOptions& options, const Context& context = {});

// Writes nothing.
TrainingEstimate estimate_finetuning(const Graph& graph, const FinetuneOptions& options, const Context& context = {});
TrainingEstimate estimate_finetuning(const GraphSet& molecules, const FinetuneOptions& options,
                                     const Context& context = {});

}  // namespace graphpae::run
