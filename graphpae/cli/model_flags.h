// --recipe and settings on the command line; no LibTorch.
#pragma once

#include <string>

#include "graphpae/cli/command.h"
#include "graphpae/train/finetune_settings.h"
#include "graphpae/train/reading_settings.h"
#include "graphpae/train/settings.h"

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
// Without the flags of settings, for a verb that few of them concern.
void add_recipe_flags(CLI::App& app, ModelFlags& flags);

// Precedence: flags and --set, then --config, then the recipe, then `base`.
// `finetune`, if not null, receives the settings of fine-tuning in the same way, from what it holds.
Settings resolve_settings(const ModelFlags& flags, const Settings& base = {}, FinetuneSettings* finetune = nullptr);

// How molecules are read: as --featurizer says; else as a run that goes on did, if `config` names its config.yaml; else
// as --set, --config or the recipe says.
void resolve_reading(const ModelFlags& flags, const std::string& config, DataFlags& data);
// The line of config.yaml that says it to a run that goes on; empty if there is nothing to say.
std::string reading_yaml(const DataFlags& data);

}  // namespace graphpae::cli
