#include "graphpae/cli/model_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "graphpae/core/error.h"
#include "graphpae/data/molecule_shards.h"
#include "graphpae/io/input_file.h"
#include "graphpae/settings/all_settings.h"
#include "graphpae/settings/recipes.h"

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

Settings base_settings(const ModelFlags& flags, bool is_graph, std::vector<std::string>& notes) {
  if (!flags.recipe.empty()) return {};
  const std::string method = resolve_settings(flags).method;
  const auto named = [&](const Recipe& recipe) { return recipe.name == method; };
  if (method != Settings().method && std::any_of(recipes().begin(), recipes().end(), named)) {
    notes.push_back(fmt::format("method {0} without --recipe: what is not set comes from recipe {0}", method));
    return recipe_settings(method);
  }
  if (is_graph) return {};
  notes.push_back("molecules without --recipe: what is not set comes from recipe molecules");
  return recipe_settings("molecules");
}

void TrainingFlags::check(const std::string& name) const {
  parse_kernels(kernels);
  if (resume && force) throw usage_error("--resume and --force exclude each other");
  if (output.empty() && !dry_run) throw usage_error(fmt::format("-o {} is required: where the run is kept", name));
}

void add_training_flags(CLI::App& app, TrainingFlags& flags) {
  app.add_option("-o,--output", flags.output, "run directory");
  app.add_flag("--resume", flags.resume, "go on with the run in the run directory, if there is one");
  app.add_flag("--force", flags.force, "start anew in an existing run directory");
  app.add_flag("--dry-run", flags.dry_run, "shapes, memory and time estimate; nothing is written");
  add_kernels_flag(app, flags.kernels);
  app.add_option("--checkpoint-every", flags.checkpoint_every, "epochs between checkpoints")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
}

void add_kernels_flag(CLI::App& app, std::string& kernels) {
  app.add_option("--kernels", kernels, "fused or reference (plain LibTorch)")->capture_default_str();
}

Kernels parse_kernels(const std::string& text) {
  return choose<Kernels>("--kernels", text, {{"fused", Kernels::fused}, {"reference", Kernels::reference}});
}

}  // namespace graphpae::cli
