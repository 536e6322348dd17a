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

Settings resolve_settings(const ModelFlags& flags, const Settings& base) {
  Settings settings = flags.recipe.empty() ? base : recipe_settings(flags.recipe);
  OptionTable table;
  declare(table, settings);
  apply_settings(table, flags.settings);
  check(settings);
  return settings;
}

}  // namespace graphpae::cli
