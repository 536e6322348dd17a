#include "graphpae/settings/settings.h"

#include "fuzz/target.h"
#include "graphpae/core/options.h"

GRAPHPAE_FUZZ_TARGET(bytes) {
  using namespace graphpae;
  Settings settings;
  OptionTable table;
  declare(table, settings);
  return fuzz::value_or_error([&] { set_from_yaml(table, std::string(bytes), "fuzz.yaml"); });
}
