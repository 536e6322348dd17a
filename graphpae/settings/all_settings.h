// AllSettings: everything that a recipe or the config.yaml of a run may say.
#pragma once

#include <string>

#include "graphpae/settings/finetune_settings.h"
#include "graphpae/settings/reading_settings.h"
#include "graphpae/settings/settings.h"

namespace graphpae {

struct AllSettings {
  Settings model;
  FinetuneSettings finetune;
  ReadingSettings reading;
};

void declare(OptionTable& table, AllSettings& settings);
AllSettings all_settings_from_yaml(const std::string& yaml, const std::string& source);

}  // namespace graphpae
