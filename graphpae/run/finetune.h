// Fine-tuning as a verb: a run directory with an encoder and a head trained on labels.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "graphpae/run/context.h"
#include "graphpae/run/finetune_parts.h"
#include "graphpae/run/finetune_results.h"
#include "graphpae/run/run_directory.h"
#include "graphpae/train/estimate.h"

namespace graphpae {
class Model;
}

namespace graphpae::run {

struct FinetuneOptions : RunOptions {
  FinetuneOptions() { checkpoint_every = 10; }

  std::shared_ptr<Model> model;  // to start from; null: none
  std::string model_name;
  bool from_scratch = false;  // the shape of the model, but weights drawn anew
  PartOptions parts;
  Settings settings;  // of a new run, of the model's shape (finetune_settings())
  FinetuneSettings finetune;
  // What is asked of a run that goes on: from its settings to those, which may only repeat them. Empty: those above.
  std::function<void(Settings&, FinetuneSettings&)> again;
};

// Trains on a Graph or GraphSet and writes the run directory. Throws usage and data errors for settings, labels and
// directories that do not fit, and interrupted errors.
template <class Data>
FinetuneResult finetune(const Data& data, const FinetuneOptions& options, const Context& context = {});

// Writes nothing.
template <class Data>
Estimate estimate_finetuning(const Data& data, const FinetuneOptions& options, const Context& context = {});

}  // namespace graphpae::run
