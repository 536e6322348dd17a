#include "graphpae/cli/model_flags.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "graphpae/cli/flag_groups.h"
#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/data/molecule_shards.h"
#include "graphpae/io/input_file.h"
#include "graphpae/reproduce/budget.h"
#include "graphpae/run/pretrain.h"
#include "graphpae/settings/all_settings.h"
#include "graphpae/settings/default_settings.h"
#include "graphpae/settings/recipes.h"

namespace graphpae::cli {

void add_model_flags(CLI::App& app, ModelFlags& flags) {
  Settings defaults;
  add_recipe_flag(app, flags.recipe);
  add_setting_flags(app, table_of(defaults), flags.settings, {{"method", "epochs", "lr", "seed"}});
}

void add_recipe_flag(CLI::App& app, std::string& recipe) {
  app.add_option("--recipe", recipe, "Start from the settings of this recipe; `graphpae recipes` lists them.")
      ->type_name("RECIPE");
}

namespace {

// What the recipe says, then what the command line does.
void resolve(const ModelFlags& flags, AllSettings& settings) {
  if (!flags.recipe.empty()) {
    const Recipe& recipe = find_recipe(flags.recipe);
    settings = all_settings_from_yaml(recipe.yaml, "recipe " + recipe.name);
  }
  apply_settings(table_of(settings), flags.settings);
}

}  // namespace

Settings resolve_settings(const ModelFlags& flags, const Settings& base, FinetuneSettings* finetune) {
  AllSettings settings{base, finetune == nullptr ? FinetuneSettings() : *finetune, {}};
  settings.model.restarts.clear();
  resolve(flags, settings);
  // Restarts belong to the number of epochs they were made for.
  if (settings.model.restarts.empty() && settings.model.epochs == base.epochs) settings.model.restarts = base.restarts;
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

Settings base_settings(const ModelFlags& flags, const Graph* graph, std::vector<std::string>& notes) {
  if (!flags.recipe.empty()) return {};
  const std::string method = resolve_settings(flags).method;
  const auto named = [&](const Recipe& recipe) { return recipe.name == method; };
  if (method != Settings().method && std::any_of(recipes().begin(), recipes().end(), named)) {
    notes.push_back(fmt::format("method {0} without --recipe: what is not set comes from recipe {0}", method));
    return graph != nullptr && flags.settings.config.empty() ? default_settings(*graph, recipe_settings(method))
                                                             : recipe_settings(method);
  }
  if (graph != nullptr) {
    if (!flags.settings.config.empty()) return {};
    const Settings chosen = default_settings(*graph);
    const Settings said = resolve_settings(flags, chosen);
    notes.push_back("without --recipe: " + describe_defaults(said));
    return chosen;
  }
  notes.push_back("molecules without --recipe: what is not set comes from recipe molecules");
  return recipe_settings("molecules");
}

void TrainingFlags::check(const std::string& name) const {
  parse_kernels(kernels);
  if (run.resume && run.force) throw usage_error("--resume and --force exclude each other");
  if (run.run.empty() && !dry_run) throw usage_error(fmt::format("-o {} is required: where the run is kept", name));
}

void add_training_flags(CLI::App& app, TrainingFlags& flags) {
  app.add_option("-o,--output", flags.run.run, "Keep the run in this directory; only --dry-run needs none.")
      ->type_name("DIR");
  app.add_flag("--resume", flags.run.resume, "Go on with the run in that directory, if there is one.");
  app.add_flag("--force", flags.run.force, "Start anew in an existing run directory.");
  app.add_flag("--dry-run", flags.dry_run, "Estimate shapes, memory and time, and write nothing.");
  add_kernels_flag(app, flags.kernels);
  app.add_option("--checkpoint-every", flags.run.checkpoint_every, "Write a checkpoint after this many epochs.")
      ->type_name("N")
      ->group(kRare)
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
}

void add_kernels_flag(CLI::App& app, std::string& kernels) {
  app.add_option("--kernels", kernels, "Compute with fused kernels or with plain LibTorch operations.")
      ->type_name("fused|reference")
      ->group(kRare)
      ->capture_default_str();
}

Kernels parse_kernels(const std::string& text) {
  return choose<Kernels>("--kernels", text, {{"fused", Kernels::fused}, {"reference", Kernels::reference}});
}

void print_estimate(const Estimate& estimate, const Common& common) {
  const bool tried = estimate.seconds > 0;
  const int processors = all_threads().count;
  const double seconds = estimate.seconds * static_cast<double>(estimate.epochs);
  if (common.json) {
    Json named;
    for (const auto& [name, shape] : estimate.shapes) named[name] = shape;
    return print_json({{"parameters", estimate.parameters},
                       {"bytes", estimate.bytes},
                       {"seconds_per_epoch", tried ? Json(estimate.seconds) : Json()},
                       {"seconds", tried ? Json(seconds) : Json()},
                       {"load", tried ? Json(estimate.load) : Json()},
                       {"processors", processors},
                       {"shapes", named}});
  }
  for (const auto& [name, shape] : estimate.shapes) fmt::print("  {:<36} [{}]\n", name, fmt::join(shape, ", "));
  fmt::print("parameters     {}\n", estimate.parameters);
  fmt::print("memory         about {:.2f} GB ({:.2f} GB available)\n", static_cast<double>(estimate.bytes) / 1e9,
             static_cast<double>(available_memory()) / 1e9);
  if (tried) {
    fmt::print("an epoch       about {:.2g} s, measured with load {:.1f} on {} processors{}\n", estimate.seconds,
               estimate.load, processors, estimate.load > 0.5 * processors ? ": an idle machine is faster" : "");
    fmt::print("{:<14} about {}\n", fmt::format("{} epochs", estimate.epochs), duration_text(seconds));
  } else {
    fmt::print("an epoch       not tried, it does not fit into memory\n");
  }
  fmt::print("dry run: nothing was written\n");
}

}  // namespace graphpae::cli
