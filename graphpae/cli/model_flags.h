// Flags of the verbs that train or use a model: --recipe and settings, and where a run is kept; no LibTorch.
#pragma once

#include <string>
#include <vector>

#include "graphpae/cli/command.h"
#include "graphpae/ops/kernels.h"
#include "graphpae/run/run_directory.h"
#include "graphpae/settings/all_settings.h"
#include "graphpae/settings/finetune_settings.h"
#include "graphpae/settings/settings.h"

namespace graphpae {
struct Estimate;
class Graph;
}  // namespace graphpae

namespace graphpae::cli {

struct ModelFlags {
  std::string recipe;
  SettingFlags settings;

  bool empty() const {
    return recipe.empty() && settings.config.empty() && settings.set.empty() && settings.flags.empty();
  }
};
// --recipe, --set, --config and a flag of every setting.
void add_model_flags(CLI::App& app, ModelFlags& flags);
void add_recipe_flag(CLI::App& app, std::string& recipe);

// Precedence: flags and --set, then --config, then the recipe, then `base`.
// `finetune`, if not null, receives the settings of fine-tuning in the same way, from what it holds.
Settings resolve_settings(const ModelFlags& flags, const Settings& base = {}, FinetuneSettings* finetune = nullptr);

// The base for training on one graph, or on molecules (null). Without a recipe, another method than graphpae starts
// from the recipe of its name, if there is one, molecules from recipe `molecules`, and a graph from what fits its size
// (settings/default_settings.h) unless there is a --config; `notes` say so.
Settings base_settings(const ModelFlags& flags, const Graph* graph, std::vector<std::string>& notes);

// How molecules are read: as --featurizer says; else as a run that goes on did, if `config` names its config.yaml; else
// as --set, --config or the recipe says.
void resolve_reading(const ModelFlags& flags, const std::string& config, DataFlags& data);

// A run directory and how it is trained.
struct TrainingFlags {
  RunOptions run;
  std::string kernels = "fused";
  bool dry_run = false;

  // Throws a usage error for flags that exclude each other and a missing output, which the usage calls `name`.
  void check(const std::string& name) const;
};
void add_training_flags(CLI::App& app, TrainingFlags& flags);

// What --dry-run says: shapes, parameters, memory and time.
void print_estimate(const Estimate& estimate, const Common& common);

void add_kernels_flag(CLI::App& app, std::string& kernels);
Kernels parse_kernels(const std::string& text);

}  // namespace graphpae::cli
