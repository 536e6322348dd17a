#include "graphpae/run/run_settings.h"

#include <fmt/format.h>

#include "graphpae/core/error.h"

namespace graphpae::run {

template <class S>
std::optional<SettingDifference> setting_difference(S first, S second) {
  OptionTable a, b;
  declare(a, first);
  declare(b, second);
  for (size_t k = 0; k < a.options().size(); ++k) {
    const std::string one = a.options()[k].print(), other = b.options()[k].print();
    if (one != other) return SettingDifference{a.options()[k].key, one, other};
  }
  return std::nullopt;
}

template <class S>
void check_repeats(const std::string& run, const S& has, const S& asked) {
  if (const auto difference = setting_difference(has, asked))
    throw usage_error(fmt::format("{}: the run has {}={}, the command line says {}", run, difference->key,
                                  difference->first, difference->second));
}

template std::optional<SettingDifference> setting_difference(Settings, Settings);
template void check_repeats(const std::string&, const Settings&, const Settings&);
template void check_repeats(const std::string&, const FinetuneSettings&, const FinetuneSettings&);

std::string reading_yaml(const std::string& featurizer) {
  return featurizer.empty() ? "" : fmt::format("featurizer: {}\n", featurizer);
}

}  // namespace graphpae::run
