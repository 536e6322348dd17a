// ReadingSettings: what a recipe says about how its data are read, beside the Settings of the model.
#pragma once

#include <optional>
#include <string>

#include "graphpae/core/options.h"
#include "graphpae/data/chemistry.h"

namespace graphpae {

struct ReadingSettings {
  std::optional<Featurizer> featurizer;  // none: the codes that the data have, else ogb
};

void declare(OptionTable& table, ReadingSettings& settings);

// Of a recipe, or of a run's config.yaml.
ReadingSettings reading_settings_from_yaml(const std::string& yaml, const std::string& source);

}  // namespace graphpae
