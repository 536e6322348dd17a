#include "graphpae/reproduce/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graphpae/core/options.h"
#include "graphpae/io/input_file.h"
#include "graphpae/settings/all_settings.h"
#include "graphpae/settings/recipes.h"

namespace graphpae {
namespace {

SettingList without_finetune(SettingList list) {
  std::erase_if(list, [](const auto& setting) { return setting.first.starts_with("finetune."); });
  return list;
}

SettingList given_settings(const ExperimentRow& row, const ExperimentVariant& variant) {
  SettingList set = row.set;
  set.insert(set.end(), variant.set.begin(), variant.set.end());
  return variant.measurement == Measurement::probe ? without_finetune(set) : set;
}

// With what restrictions and the seed say, after everything else.
Training make_training(const char* verb, const std::string& recipe, SettingList set, bool finetune, int64_t seed,
                       const JobOptions& options, const FoundData& data) {
  const SettingList resolved = resolved_settings(recipe, set, finetune);
  const int64_t full = std::stoll(*find_setting(resolved, "epochs"));
  const int64_t epochs = shared_epochs(options.epochs > 0 ? options.epochs : full, options.share);
  if (epochs != full) set.emplace_back("epochs", std::to_string(epochs));
  const int64_t warmup = std::stoll(*find_setting(resolved, "warmup"));
  if (warmup > 0 && epochs < full) set.emplace_back("warmup", std::to_string(shared_warmup(warmup, full, epochs)));
  set.emplace_back("seed", std::to_string(seed));
  return {{verb, data.name, data.hash, "", resolved_settings(recipe, set, finetune)}, recipe, set, data};
}

}  // namespace

bool is_recipe_name(const std::string& recipe) {
  return std::any_of(recipes().begin(), recipes().end(), [&](const Recipe& one) { return one.name == recipe; }) ||
         !(recipe.ends_with(".yaml") || recipe.ends_with(".yml"));
}

SettingList resolved_settings(const std::string& recipe, const SettingList& set, bool finetune) {
  AllSettings settings;
  OptionTable table;
  declare(table, settings);
  if (is_recipe_name(recipe))
    set_from_yaml(table, find_recipe(recipe).yaml, "recipe " + recipe);
  else
    set_from_yaml(table, read_file(recipe, 1 << 20), recipe);
  for (const auto& [key, value] : set) table.set(key, value);
  check(settings.model);
  check(settings.finetune);
  return finetune ? setting_list(table) : without_finetune(setting_list(table));
}

int64_t shared_epochs(int64_t epochs, double share) {
  if (share >= 1) return epochs;
  double cut = std::floor(static_cast<double>(epochs) * share);
  const double unit = cut < 100 ? 1 : std::pow(10, std::floor(std::log10(cut)) - 1);
  cut = std::floor(cut / unit) * unit;
  return std::clamp<int64_t>(static_cast<int64_t>(cut), 1, epochs);
}

Job make_job(const Experiment& experiment, size_t row_number, size_t variant_number, int64_t seed,
             const JobOptions& options, const FoundData& data, const FoundData& pretrain_data) {
  const ExperimentRow& row = experiment.rows[row_number];
  const ExperimentVariant& variant = experiment.variants[variant_number];
  Job job{make_training(kMeasurementNames[static_cast<size_t>(variant.measurement)], row.recipe,
                        given_settings(row, variant), variant.measurement != Measurement::probe, seed, options, data)};
  job.row = row_number;
  job.variant = variant_number;
  job.baselines = variant.baselines;
  job.metric = row.metric;
  if (variant.measurement == Measurement::transfer) {
    job.pretrain = make_training("pretrain", variant.pretrain_recipe, without_finetune(variant.set), false, 0, options,
                                 pretrain_data);
    // Without what a table may be made without: the data, and the number of epochs.
    JobIdentity from = job.pretrain->identity;
    from.data_hash.clear();
    std::erase_if(from.settings, [](const auto& one) { return one.first == "epochs" || one.first == "warmup"; });
    job.identity.from = fmt::format("{}:{}", job_key(from), job.pretrain->identity.epochs());
  }
  return job;
}

int64_t recipe_epochs(const Experiment& experiment, size_t row, size_t variant) {
  const ExperimentVariant& of = experiment.variants[variant];
  const SettingList set = given_settings(experiment.rows[row], of);
  const SettingList settings =
      resolved_settings(experiment.rows[row].recipe, set, of.measurement != Measurement::probe);
  return std::stoll(*find_setting(settings, "epochs"));
}

}  // namespace graphpae
