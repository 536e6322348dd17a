// Settings of a run that goes on, and those that its caller asks for. `S` is Settings or FinetuneSettings.
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
template <class S>
std::optional<SettingDifference> setting_difference(S first, S second);

// What is asked of a run may only repeat what it has. Throws a usage error that names the first difference.
template <class S>
void check_repeats(const std::string& run, const S& has, const S& asked);

// The line of config.yaml that says how molecules were read; "" if there is nothing to say.
std::string reading_yaml(const std::string& featurizer);

}  // namespace graphpae::run
