#include "graphpae/settings/reading_settings.h"

#include "graphpae/settings/all_settings.h"

namespace graphpae {

void declare(OptionTable& table, ReadingSettings& s) {
  table.add_choice<std::optional<Featurizer>>(
      "featurizer", s.featurizer,
      {{"auto", std::nullopt}, {"ogb", Featurizer::ogb}, {"transfer", Featurizer::transfer}},
      "codes of molecules; auto: those that the data have, else ogb");
}

ReadingSettings reading_settings_from_yaml(const std::string& yaml, const std::string& source) {
  return all_settings_from_yaml(yaml, source).reading;
}

}  // namespace graphpae
