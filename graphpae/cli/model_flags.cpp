#include "graphpae/cli/model_flags.h"

#include <fmt/format.h>

#include "graphpae/data/molecule_shards.h"
#include "graphpae/io/input_file.h"
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
void resolve(const ModelFlags& flags, Settings& settings, FinetuneSettings& special, ReadingSettings& reading) {
  if (!flags.recipe.empty()) {
    const Recipe& recipe = find_recipe(flags.recipe);
    const std::string source = "recipe " + recipe.name;
    settings = recipe_settings(recipe.name);
    special = finetune_settings_from_yaml(recipe.yaml, source);
    reading = reading_settings_from_yaml(recipe.yaml, source);
  }
  OptionTable table;
  declare(table, settings);
  declare(table, special);
  declare(table, reading);
  apply_settings(table, flags.settings);
}

}  // namespace

Settings resolve_settings(const ModelFlags& flags, const Settings& base, FinetuneSettings* finetune) {
  Settings settings = base;
  FinetuneSettings special = finetune == nullptr ? FinetuneSettings() : *finetune;
  ReadingSettings reading;
  resolve(flags, settings, special, reading);
  check(settings);
  check(special);
  if (finetune != nullptr) *finetune = special;
  return settings;
}

void resolve_reading(const ModelFlags& flags, const std::string& config, DataFlags& data) {
  if (!data.featurizer.empty()) return;
  Settings settings;
  FinetuneSettings special;
  ReadingSettings reading;
  if (config.empty())
    resolve(flags, settings, special, reading);
  else
    reading = reading_settings_from_yaml(read_file(config, 1 << 20), config);
  if (reading.featurizer) data.featurizer = name_of(*reading.featurizer);
}

std::string reading_yaml(const DataFlags& data) {
  return data.featurizer.empty() ? "" : fmt::format("featurizer: {}\n", data.featurizer);
}

}  // namespace graphpae::cli
