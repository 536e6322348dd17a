#include "graphpae/cli/model_flags.h"

#include <fmt/format.h>

#include "graphpae/data/molecule_shards.h"
#include "graphpae/io/input_file.h"
#include "graphpae/train/all_settings.h"
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

namespace {

// What the recipe says, then what the command line does.
void resolve(const ModelFlags& flags, AllSettings& settings) {
  if (!flags.recipe.empty()) {
    const Recipe& recipe = find_recipe(flags.recipe);
    settings = all_settings_from_yaml(recipe.yaml, "recipe " + recipe.name);
  }
  OptionTable table;
  declare(table, settings);
  apply_settings(table, flags.settings);
}

}  // namespace

Settings resolve_settings(const ModelFlags& flags, const Settings& base, FinetuneSettings* finetune) {
  AllSettings settings{base, finetune == nullptr ? FinetuneSettings() : *finetune, {}};
  resolve(flags, settings);
  check(settings.model);
  check(settings.finetune);
  if (finetune != nullptr) *finetune = settings.finetune;
  return settings.model;
}

void resolve_reading(const ModelFlags& flags, const std::string& config, DataFlags& data) {
  if (!data.featurizer.empty()) return;
  AllSettings settings;
  if (config.empty())
    resolve(flags, settings);
  else
    settings = all_settings_from_yaml(read_file(config, 1 << 20), config);
  if (settings.reading.featurizer) data.featurizer = name_of(*settings.reading.featurizer);
}

std::string reading_yaml(const DataFlags& data) {
  return data.featurizer.empty() ? "" : fmt::format("featurizer: {}\n", data.featurizer);
}

}  // namespace graphpae::cli
