// --recipe and settings on the command line; no LibTorch.
#pragma once

#include <string>

#include "graphpae/cli/command.h"
#include "graphpae/train/finetune_settings.h"
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

}  // namespace graphpae::cli
