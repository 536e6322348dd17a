#include "graphpae/train/reading_settings.h"

#include "graphpae/core/options_yaml.h"
#include "graphpae/train/finetune_settings.h"

namespace graphpae {

void declare(OptionTable& table, ReadingSettings& s) {
  table.add_choice<std::optional<Featurizer>>(
      "featurizer", s.featurizer,
      {{"auto", std::nullopt}, {"ogb", Featurizer::ogb}, {"transfer", Featurizer::transfer}},
      "codes of molecules; auto: those that the data have, else ogb");
}

ReadingSettings reading_settings_from_yaml(const std::string& yaml, const std::string& source) {
  Settings settings;
  FinetuneSettings finetune;
  ReadingSettings reading;
  OptionTable table;
  declare(table, settings);
  declare(table, finetune);
  declare(table, reading);
  set_from_yaml(table, yaml, source);
  return reading;
}

}  // namespace graphpae
