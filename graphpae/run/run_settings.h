// Settings of a run that goes on, or that another starts from, and those that its caller asks for.
#pragma once

#include <optional>
#include <string>

#include "graphpae/settings/finetune_settings.h"
#include "graphpae/settings/settings.h"

namespace graphpae::run {

// The first setting in which two differ, with its values as text.
struct SettingDifference {
  std::string key, first, second;
};
std::optional<SettingDifference> setting_difference(Settings first, Settings second);
std::optional<SettingDifference> setting_difference(FinetuneSettings first, FinetuneSettings second);

// What is asked of a run may only repeat what it has. Throws a usage error that names the first difference.
void check_repeats(const std::string& run, const Settings& has, const Settings& asked);
void check_repeats(const std::string& run, const FinetuneSettings& has, const FinetuneSettings& asked);

// For fine-tuning: what shapes a model from `model`; how it is trained (epochs, lr, batch_size, dropouts, pooling,
// seed, ...) from `training`.
Settings finetune_settings(const Settings& model, const Settings& training);

// The line of config.yaml that says how molecules were read; "" if there is nothing to say.
std::string reading_yaml(const std::string& featurizer);

}  // namespace graphpae::run
