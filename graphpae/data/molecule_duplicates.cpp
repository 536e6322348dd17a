#include "graphpae/data/molecule_duplicates.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graphpae/data/chemistry.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

constexpr int kRounds = 3;
constexpr int64_t kGraphsPerTask = 1024;

uint64_t mixed(uint64_t value) {
  value ^= value >> 31;
  value *= 0x9e3779b97f4a7c15;
  value ^= value >> 29;
  value *= 0xbf58476d1ce4e5b9;
  return value ^ value >> 32;
}

// A number that does not depend on the order of atoms: from elements and kinds of bonds, seen `kRounds` bonds far.
// Codes that depend on the order, those of stereo, are not in it.
uint64_t structure_hash(const GraphSetParts& parts, int64_t graph) {
  const int64_t first = parts.node_offsets[graph], atoms = parts.node_offsets[graph + 1] - first;
  const auto code = [](const Codes& codes, int64_t row) {
    return codes.columns == 0 ? 0 : static_cast<uint64_t>(codes.values[row * codes.columns]);
  };
  std::vector<uint64_t> states(atoms), next(atoms);
  for (int64_t a = 0; a < atoms; ++a) states[a] = mixed(code(parts.node_codes, first + a) + 1);
  for (int round = 0; round < kRounds; ++round) {
    for (int64_t a = 0; a < atoms; ++a) next[a] = mixed(states[a]);
    for (int64_t e = parts.edge_offsets[graph]; e < parts.edge_offsets[graph + 1]; ++e) {
      const auto [a, b] = parts.edges[e];
      const uint64_t kind = code(parts.edge_codes, e) + 1;
      next[a] += mixed(states[b] + mixed(kind));  // sums: no order
      next[b] += mixed(states[a] + mixed(kind));
    }
    std::swap(states, next);
  }
  uint64_t sum = mixed(static_cast<uint64_t>(atoms));
  for (const uint64_t state : states) sum += mixed(state);
  return sum;
}

// Different values of one task in the rows of a group.
bool labels_differ(const GraphSetParts& parts, const std::vector<int64_t>& rows) {
  const size_t tasks = parts.task_names.size();
  for (size_t t = 0; t < tasks; ++t) {
    std::optional<double> seen;
    for (const int64_t row : rows) {
      const double value = parts.targets[row * tasks + t];
      if (std::isnan(value)) continue;
      if (seen && *seen != value) return true;
      seen = value;
    }
  }
  return false;
}

}  // namespace

MoleculeDuplicates find_molecule_duplicates(const GraphSetParts& parts, Threads threads) {
  MoleculeDuplicates result;
  if (parts.texts.empty() || parts.node_offsets.empty()) return result;
  std::vector<std::pair<uint64_t, int64_t>> hashed(parts.num_graphs);
  parallel_tasks(threads, (parts.num_graphs + kGraphsPerTask - 1) / kGraphsPerTask, [&](int64_t task) {
    const int64_t end = std::min(parts.num_graphs, (task + 1) * kGraphsPerTask);
    for (int64_t g = task * kGraphsPerTask; g < end; ++g) hashed[g] = {structure_hash(parts, g), g};
  });
  std::sort(hashed.begin(), hashed.end());

  // Only rows that share their number with another can be the same: few are written as canonical SMILES, which is slow.
  TextColumn texts;
  std::vector<int64_t> rows;
  for (size_t i = 0; i < hashed.size(); ++i) {
    const bool alone = (i == 0 || hashed[i - 1].first != hashed[i].first) &&
                       (i + 1 == hashed.size() || hashed[i + 1].first != hashed[i].first);
    const int64_t g = hashed[i].second;
    if (alone || parts.node_offsets[g] == parts.node_offsets[g + 1]) continue;
    texts.push_back(parts.texts[g]);
    rows.push_back(g);
  }
  std::unordered_map<std::string, std::vector<int64_t>> groups;
  const auto canonical = canonical_smiles(texts, threads);
  for (size_t i = 0; i < rows.size(); ++i) {
    if (canonical[i]) groups[*canonical[i]].push_back(rows[i]);
  }
  for (const auto& [smiles, members] : groups) {
    if (members.size() < 2) continue;
    ++result.groups;
    result.molecules += static_cast<int64_t>(members.size());
    result.conflicting += labels_differ(parts, members);
  }
  return result;
}

std::string duplicates_note(const MoleculeDuplicates& duplicates) {
  if (duplicates.groups == 0) return "";
  const bool one = duplicates.groups == 1;
  return fmt::format("{} rows are {} molecule{} that appear{} more than once; {} of these {} different labels",
                     grouped(duplicates.molecules), grouped(duplicates.groups), one ? "" : "s", one ? "s" : "",
                     grouped(duplicates.conflicting), duplicates.conflicting == 1 ? "has" : "have");
}

}  // namespace graphpae
