// Jobs: the runs that an experiment consists of, one per data set, variant and seed.
#pragma once

#include <optional>
#include <string>

#include "graphpae/reproduce/record.h"

namespace graphpae {

// What was found for the names of a data set.
struct FoundData {
  std::string name;        // the one that was found; the first one if none was
  std::string place;       // the directory it is in; "" if it is not here
  std::string hash;        // of its content; "" if it was not read
  std::string state = {};  // why nothing can be run with it; "" if all is well
  bool here() const { return !place.empty(); }
};

// A recipe by name or a YAML file, then the assignments in turn. Throws a usage error for unknown settings and for
// settings that contradict each other. Those of fine-tuning are in the list if `finetune`.
SettingList resolved_settings(const std::string& recipe, const SettingList& set, bool finetune);

// Recipes are compiled in; everything else that is named as one is a file.
bool is_recipe_name(const std::string& recipe);

// One training, and how the program is asked for it.
struct Training {
  JobIdentity identity;
  std::string recipe;  // with `set`, what the identity's settings came from
  SettingList set;
  FoundData data;
};

struct Job : Training {
  size_t row = 0, variant = 0;            // of the experiment
  bool baselines = false;                 // probe also what the embeddings must beat
  std::string protocol = "both";          // of evaluate
  std::string metric = {};                // of fine-tuning; "" for its own
  std::optional<Training> pretrain = {};  // of transfer: comes first
};

// Restrictions of an experiment.
struct JobOptions {
  int64_t seeds = 0;   // 0: as the experiment says
  int64_t epochs = 0;  // 0: as the recipes say
  double share = 1;    // of those epochs
};

// Epochs of a recipe cut down to a share: at least one, two digits, so that plans that are nearly equal are equal.
int64_t shared_epochs(int64_t epochs, double share);

// The job of a cell. `data` and `pretrain_data` are what was found for its row and variant.
Job make_job(const Experiment& experiment, size_t row, size_t variant, int64_t seed, const JobOptions& options,
             const FoundData& data, const FoundData& pretrain_data);

// The number of epochs a row's recipe has, before any restriction.
int64_t recipe_epochs(const Experiment& experiment, size_t row, size_t variant);

}  // namespace graphpae
