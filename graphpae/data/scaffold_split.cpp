#include "graphpae/data/scaffold_split.h"

#include <algorithm>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graphpae/core/error.h"
#include "graphpae/data/chemistry.h"

namespace graphpae {

Split scaffold_split(std::span<const std::optional<std::string>> scaffolds) {
  constexpr double kTrain = 0.8, kVal = 0.1;
  std::vector<std::vector<int32_t>> groups;
  std::unordered_map<std::string_view, size_t> group_of;
  size_t count = 0;
  for (size_t row = 0; row < scaffolds.size(); ++row) {
    if (!scaffolds[row]) continue;
    const auto [place, is_new] = group_of.try_emplace(*scaffolds[row], groups.size());
    if (is_new) groups.emplace_back();
    groups[place->second].push_back(static_cast<int32_t>(row));
    ++count;
  }
  std::sort(groups.begin(), groups.end(), [](const auto& a, const auto& b) {
    return a.size() != b.size() ? a.size() > b.size() : a.front() > b.front();
  });
  const double most_train = kTrain * static_cast<double>(count);
  const double most_both = (kTrain + kVal) * static_cast<double>(count);
  Split split;
  for (const std::vector<int32_t>& group : groups) {
    std::vector<int32_t>* part = &split.test;
    if (static_cast<double>(split.train.size() + group.size()) <= most_train) {
      part = &split.train;
    } else if (static_cast<double>(split.train.size() + split.val.size() + group.size()) <= most_both) {
      part = &split.val;
    }
    part->insert(part->end(), group.begin(), group.end());
  }
  for (std::vector<int32_t>* part : {&split.train, &split.val, &split.test}) std::sort(part->begin(), part->end());
  return split;
}

Split scaffold_split(const GraphSet& set, Threads threads) {
  const GraphSetParts& parts = set.parts();
  if (parts.texts.empty()) throw data_error("these graphs have no SMILES, which a scaffold split needs");
  auto scaffolds = murcko_scaffolds(parts.texts, threads);
  for (int64_t g = 0; g < set.num_graphs() && set.has_structure(); ++g) {
    if (parts.node_offsets[g] == parts.node_offsets[g + 1]) scaffolds[g].reset();
  }
  return scaffold_split(scaffolds);
}

}  // namespace graphpae
