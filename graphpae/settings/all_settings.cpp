#include "graphpae/settings/all_settings.h"

#include "graphpae/core/options.h"

namespace graphpae {

void declare(OptionTable& table, ReadingSettings& s) {
  table.add_choice<std::optional<Featurizer>>(
      "featurizer", s.featurizer,
      {{"auto", std::nullopt}, {"ogb", Featurizer::ogb}, {"transfer", Featurizer::transfer}},
      "Give molecules these codes; auto means those that the data have, or else ogb.");
}

void declare(OptionTable& table, AllSettings& settings) {
  declare(table, settings.model);
  declare(table, settings.finetune);
  declare(table, settings.reading);
}

AllSettings all_settings_from_yaml(const std::string& yaml, const std::string& source) {
  AllSettings settings;
  OptionTable table;
  declare(table, settings);
  set_from_yaml(table, yaml, source);
  return settings;
}

}  // namespace graphpae
