#include "graphpae/cli/model_flags.h"

#include "graphpae/train/recipes.h"

namespace graphpae::cli {

void add_model_flags(CLI::App& app, ModelFlags& flags) {
  Settings defaults;
  OptionTable table;
  declare(table, defaults);
  app.add_option("--recipe", flags.recipe, "named settings; `graphpae recipes` lists them");
  add_setting_flags(app, table, flags.settings);
}

void add_recipe_flags(CLI::App& app, ModelFlags& flags) {
  app.add_option("--recipe", flags.recipe, "named settings; `graphpae recipes` lists them");
  add_setting_flags(app, OptionTable(), flags.settings);
}

Settings resolve_settings(const ModelFlags& flags, const Settings& base, FinetuneSettings* finetune) {
  Settings settings = base;
  FinetuneSettings special = finetune == nullptr ? FinetuneSettings() : *finetune;
  if (!flags.recipe.empty()) {
    const Recipe& recipe = find_recipe(flags.recipe);
    settings = recipe_settings(recipe.name);
    special = finetune_settings_from_yaml(recipe.yaml, "recipe " + recipe.name);
  }
  OptionTable table;
  declare(table, settings);
  declare(table, special);
  apply_settings(table, flags.settings);
  check(settings);
  check(special);
  if (finetune != nullptr) *finetune = special;
  return settings;
}

}  // namespace graphpae::cli
