// AllSettings: everything that a recipe or the config.yaml of a run may say.
#pragma once

#include <optional>
#include <string>

#include "graphpae/data/chemistry.h"
#include "graphpae/settings/finetune_settings.h"
#include "graphpae/settings/settings.h"

namespace graphpae {

// How data are read, beside the Settings of the model.
struct ReadingSettings {
  std::optional<Featurizer> featurizer;  // none: the codes that the data have, else ogb
};
void declare(OptionTable& table, ReadingSettings& settings);

struct AllSettings {
  Settings model;
  FinetuneSettings finetune;
  ReadingSettings reading;
};

void declare(OptionTable& table, AllSettings& settings);
AllSettings all_settings_from_yaml(const std::string& yaml, const std::string& source);

}  // namespace graphpae
