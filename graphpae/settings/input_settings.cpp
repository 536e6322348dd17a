#include "graphpae/settings/input_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "graphpae/core/error.h"

namespace graphpae {

PositionOptions position_options(const Settings& settings) {
  PositionOptions options;
  options.k = settings.eigenvectors;
  options.skip_zero = settings.skip_zero_eigenvalues;
  options.absolute = settings.absolute_positions;
  options.weights = settings.weights == WeightUse::use;
  options.normalisation =
      settings.position_norm == PositionNorm::l2 ? PositionNormalisation::l2 : PositionNormalisation::none;
  return options;
}

std::vector<std::pair<std::string, std::string>> position_settings(const Settings& settings) {
  constexpr std::array<std::string_view, 4> kKeys = {"eigenvectors", "skip_zero_eigenvalues", "absolute_positions",
                                                     "position_norm"};
  Settings copy = settings;
  OptionTable table;
  declare(table, copy);
  std::vector<std::pair<std::string, std::string>> values;
  for (const Option& option : table.options()) {
    if (std::find(kKeys.begin(), kKeys.end(), option.key) != kKeys.end())
      values.emplace_back(option.key, option.print());
  }
  return values;
}

void check_encoder(const Settings& settings, EncoderKind needed) {
  if (settings.encoder == needed) return;
  throw usage_error(needed == EncoderKind::gat
                        ? "encoder gated_gcn is for molecules; one graph needs encoder=gat"
                        : "encoder gat is for one graph; molecules need encoder=gated_gcn, as in recipe molecules");
}

Featurizer featurizer_of(const GraphSet& set) {
  if (!set.has_structure()) throw data_error("the molecules have no structure: only their texts were read");
  const int64_t atoms = set.parts().node_codes.columns, bonds = set.parts().edge_codes.columns;
  for (const Featurizer featurizer : {Featurizer::ogb, Featurizer::transfer}) {
    const CodeSizes sizes = code_sizes(featurizer);
    if (atoms == static_cast<int64_t>(sizes.atoms.size()) && bonds == static_cast<int64_t>(sizes.bonds.size()))
      return featurizer;
  }
  throw data_error(
      fmt::format("atoms have {} codes and bonds {}; expected 9 and 3 (featurizer ogb) or 2 and 2 (featurizer "
                  "transfer): graphs that "
                  "are not molecules cannot be learnt from yet",
                  atoms, bonds));
}

}  // namespace graphpae
