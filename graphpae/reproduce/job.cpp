#include "graphpae/reproduce/job.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "graphpae/core/options_yaml.h"
#include "graphpae/io/input_file.h"
#include "graphpae/settings/all_settings.h"
#include "graphpae/settings/recipes.h"

namespace graphpae {
namespace {

void append(SettingList& list, const SettingList& more) { list.insert(list.end(), more.begin(), more.end()); }

SettingList without_finetune(SettingList list) {
  std::erase_if(list, [](const auto& setting) { return setting.first.starts_with("finetune."); });
  return list;
}

// What restrictions and the seed say, after everything else.
SettingList last_settings(const SettingList& resolved, int64_t seed, const JobOptions& options) {
  const int64_t full = std::stoll(*find_setting(resolved, "epochs"));
  const int64_t epochs = shared_epochs(options.epochs > 0 ? options.epochs : full, options.share);
  SettingList list;
  if (epochs != full) list.emplace_back("epochs", std::to_string(epochs));
  const int64_t warmup = std::stoll(*find_setting(resolved, "warmup"));
  if (warmup > 0 && epochs < full) list.emplace_back("warmup", std::to_string(shared_warmup(warmup, full, epochs)));
  list.emplace_back("seed", std::to_string(seed));
  return list;
}

SettingList given_settings(const ExperimentRow& row, const ExperimentVariant& variant) {
  SettingList set = row.set;
  append(set, variant.set);
  return variant.measurement == Measurement::probe ? without_finetune(set) : set;
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
  SettingList list;
  for (const Option& option : table.options()) list.emplace_back(option.key, option.print());
  return finetune ? list : without_finetune(std::move(list));
}

int64_t shared_epochs(int64_t epochs, double share) {
  if (share >= 1) return epochs;
  double cut = std::floor(static_cast<double>(epochs) * share);
  const double unit = cut < 100 ? 1 : std::pow(10, std::floor(std::log10(cut)) - 1);
  cut = std::floor(cut / unit) * unit;
  return std::clamp<int64_t>(static_cast<int64_t>(cut), 1, epochs);
}

const char* verb_name(Measurement measurement) {
  switch (measurement) {
    case Measurement::probe: return "probe";
    case Measurement::supervised: return "supervised";
    default: return "transfer";
  }
}

Job make_job(const Experiment& experiment, size_t row_number, size_t variant_number, int64_t seed,
             const JobOptions& options, const FoundData& data, const FoundData& pretrain_data) {
  const ExperimentRow& row = experiment.rows[row_number];
  const ExperimentVariant& variant = experiment.variants[variant_number];
  const bool finetune = variant.measurement != Measurement::probe;
  Job job;
  job.row = row_number;
  job.variant = variant_number;
  job.recipe = row.recipe;
  job.set = given_settings(row, variant);
  append(job.set, last_settings(resolved_settings(row.recipe, job.set, finetune), seed, options));
  job.identity = {verb_name(variant.measurement), data.name, data.hash, "",
                  resolved_settings(row.recipe, job.set, finetune)};
  if (variant.measurement == Measurement::transfer) {
    job.pretrain_recipe = variant.pretrain_recipe;
    job.pretrain_set = without_finetune(variant.set);
    append(job.pretrain_set,
           last_settings(resolved_settings(job.pretrain_recipe, job.pretrain_set, false), 0, options));
    job.pretrain = JobIdentity{"pretrain", pretrain_data.name, pretrain_data.hash, "",
                               resolved_settings(job.pretrain_recipe, job.pretrain_set, false)};
    // Without what a table may be made without: the data, and the number of epochs.
    JobIdentity from = *job.pretrain;
    from.data_hash.clear();
    std::erase_if(from.settings, [](const auto& one) { return one.first == "epochs" || one.first == "warmup"; });
    job.identity.from = fmt::format("{}:{}", job_key(from), job.pretrain->epochs());
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
