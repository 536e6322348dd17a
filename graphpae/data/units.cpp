#include "graphpae/data/units.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "graphpae/core/error.h"
#include "graphpae/core/suggest.h"

namespace graphpae {
namespace {

const std::map<std::string, TargetUnit>& qm9_units() {
  const TargetUnit orbital{"Hartree", "10^-2 meV", 100 * kMilliElectronVoltsPerHartree},
      energy{"Hartree", "meV", kMilliElectronVoltsPerHartree};
  static const std::map<std::string, TargetUnit> units = {
      {"mu", {"D", "D", 1}}, {"alpha", {"a0^3", "a0^3", 1}},
      {"homo", orbital},     {"lumo", orbital},
      {"gap", orbital},      {"r2", {"a0^2", "a0^2", 1}},
      {"zpve", orbital},     {"u0", energy},
      {"u298", energy},      {"h298", energy},
      {"g298", energy},      {"cv", {"cal/(mol K)", "cal/(mol K)", 1}},
  };
  return units;
}

}  // namespace

std::vector<TargetUnit> target_units(const std::string& text, const std::vector<std::string>& targets) {
  std::vector<TargetUnit> units(targets.size());
  if (text == "none") return units;
  if (text == "qm9") {
    for (size_t t = 0; t < targets.size(); ++t) {
      const auto found = qm9_units().find(targets[t]);
      if (found != qm9_units().end()) units[t] = found->second;
    }
    return units;
  }
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find(',', begin), text.size());
    const std::string pair = text.substr(begin, end - begin);
    const size_t equals = pair.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == pair.size())
      throw usage_error(fmt::format("units: '{}' is neither qm9 nor TARGET=UNIT", pair));
    const std::string name = pair.substr(0, equals);
    const auto place = std::find(targets.begin(), targets.end(), name);
    if (place == targets.end())
      throw usage_error(fmt::format("units: no target '{}'{}", name, did_you_mean(name, targets)));
    units[place - targets.begin()].name = pair.substr(equals + 1);
    begin = end + 1;
  }
  return units;
}

}  // namespace graphpae
