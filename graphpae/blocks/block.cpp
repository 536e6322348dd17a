#include "graphpae/blocks/block.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "graphpae/core/error.h"
#include "graphpae/core/suggest.h"

namespace graphpae {

const std::vector<std::string>& all_block_names() {
  static const std::vector<std::string> names = {"features", "neighbours",  "adjacency",  "degree",    "positions",
                                                 "morgan",   "descriptors", "atom_pairs", "pretrained"};
  return names;
}

std::vector<std::string> parse_block_names(std::string_view list) {
  const std::vector<std::string>& known = all_block_names();
  std::vector<std::string> names;
  while (true) {
    const size_t comma = list.find(',');
    std::string name(list.substr(0, comma));
    if (std::find(known.begin(), known.end(), name) == known.end())
      throw usage_error(
          fmt::format("unknown block '{}'{}; blocks are {}", name, did_you_mean(name, known), fmt::join(known, ", ")));
    if (std::find(names.begin(), names.end(), name) != names.end())
      throw usage_error(fmt::format("block '{}' is given twice", name));
    names.push_back(std::move(name));
    if (comma == std::string_view::npos) return names;
    list.remove_prefix(comma + 1);
  }
}

}  // namespace graphpae
