#include "graphpae/blocks/molecule_blocks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/data/fingerprints.h"

namespace graphpae {
namespace {

constexpr int kMorganRadius = 2;
constexpr double kLargestDescriptor = 6;  // deviations from the mean

// Over all rows but those of zeros, which stay.
Features standardised_columns(const Features& x) {
  const int64_t n = x.rows(), width = x.columns();
  Buffer<float> values(x.dense_values().begin(), x.dense_values().end());
  std::vector<bool> empty(static_cast<size_t>(n));
  double count = 0;
  for (int64_t i = 0; i < n; ++i) {
    const auto row = x.dense_row(i);
    empty[i] = std::all_of(row.begin(), row.end(), [](float value) { return value == 0; });
    count += empty[i] ? 0 : 1;
  }
  for (int64_t d = 0; d < width && count > 0; ++d) {
    double mean = 0, square = 0;
    for (int64_t i = 0; i < n; ++i) mean += values[i * width + d] / count;
    for (int64_t i = 0; i < n; ++i) square += empty[i] ? 0 : std::pow(values[i * width + d] - mean, 2) / count;
    const double factor = square > 1e-12 * mean * mean && square > 0 ? 1 / std::sqrt(square) : 0;
    for (int64_t i = 0; i < n; ++i) {
      if (empty[i]) continue;
      const double value = (values[i * width + d] - mean) * factor;
      values[i * width + d] = static_cast<float>(std::clamp(value, -kLargestDescriptor, kLargestDescriptor));
    }
  }
  return Features::dense(n, width, std::move(values));
}

}  // namespace

std::vector<std::string> molecule_block_names(const GraphSet& molecules) {
  if (molecules.parts().texts.empty()) return {};
  return {"morgan", "descriptors", "atom_pairs"};
}

Block molecule_block(const GraphSet& molecules, const std::string& name, const BlockOptions& options) {
  const std::vector<std::string> names = molecule_block_names(molecules);
  const TextColumn& texts = molecules.parts().texts;
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    if (names.empty()) throw usage_error(fmt::format("block {}: the molecules have no SMILES", name));
    throw usage_error(fmt::format("block {}: not of molecules, which have {}", name, fmt::join(names, ", ")));
  }
  const auto made = [&](std::string about, Features rows) {
    return Block{name, std::move(about), std::make_shared<const Features>(std::move(rows))};
  };
  if (name == "morgan")
    return made(fmt::format("counts of surroundings of up to {} bonds (Morgan)", kMorganRadius),
                morgan_counts(texts, kMorganRadius, options.fingerprint, options.threads));
  if (name == "atom_pairs")
    return made("counts of pairs of atoms", atom_pair_counts(texts, options.fingerprint, options.threads));
  const Descriptors found = molecule_descriptors(texts, options.threads);
  return made(fmt::format("{} descriptors of RDKit, standardised", found.names.size()),
              standardised_columns(found.rows));
}

}  // namespace graphpae
