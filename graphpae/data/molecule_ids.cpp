#include "graphpae/data/molecule_ids.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "graphpae/core/error.h"
#include "graphpae/core/suggest.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

bool names_molecules(const std::string& column) {
  constexpr std::string_view kNames[] = {"id", "cid", "name", "identifier", "compound", "molecule", "title", "mol_id"};
  constexpr std::string_view kEnds[] = {"_id", " id", "-id", "_cid", "_name"};
  const std::string name = lower(column);
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         std::any_of(std::begin(kEnds), std::end(kEnds), [&](std::string_view end) { return name.ends_with(end); });
}

}  // namespace

int id_column_of(const std::vector<std::string>& names, size_t smiles, const std::string& wanted,
                 const std::string& path) {
  for (size_t c = 0; c < names.size(); ++c) {
    if (wanted.empty() ? c != smiles && names_molecules(names[c]) : names[c] == wanted) return static_cast<int>(c);
  }
  if (wanted.empty()) return -1;
  throw usage_error(fmt::format("--id {}: {} has no such column{}; there are {}", wanted, path,
                                did_you_mean(wanted, names), fmt::join(names, ", ")));
}

}  // namespace graphpae
