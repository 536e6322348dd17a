#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "graphpae/core/error.h"
#include "graphpae/core/split.h"
#include "graphpae/data/chemistry.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

constexpr size_t kNamedLines = 5;
constexpr size_t kLongestText = 60;

int64_t place_of(const MoleculeSource& source, int64_t row) {
  if (source.records) return row + 1;
  return source.lines.empty() ? source.first_line + row : source.lines[row];
}

// "file:5" or "file: record 5"
std::string place_text(const MoleculeSource& source, int64_t row) {
  return fmt::format("{}{}{}", source.file, source.records ? ": record " : ":", place_of(source, row));
}

const char* kind_of(const MoleculeSource& source) { return source.records ? "mol block" : "SMILES"; }

std::string shown(const MoleculeSource& source, std::string_view text) {
  if (source.records) return "the record";
  const bool long_text = text.size() > kLongestText;
  std::string shown_text(text.substr(0, long_text ? kLongestText - 3 : text.size()));
  for (char& c : shown_text) {
    if (static_cast<unsigned char>(c) < ' ') c = '?';
  }
  return fmt::format("'{}{}'", shown_text, long_text ? "..." : "");
}

Error invalid_error(const InvalidMolecule& invalid, const MoleculeSource& source, const GraphSetParts& parts) {
  return data_error(fmt::format("{}: {} is not a valid {}: {}", place_text(source, invalid.row),
                                shown(source, parts.texts[invalid.row]), kind_of(source), invalid.reason));
}

std::string note_text(const std::vector<InvalidMolecule>& invalid, OnInvalid policy, const MoleculeSource& source,
                      const GraphSetParts& parts) {
  const bool one = invalid.size() == 1;
  std::string text =
      fmt::format("{}: {} of {} molecules {} not valid {} and ", source.file, grouped(invalid.size()),
                  grouped(parts.num_graphs), one ? "is" : "are", source.records ? "mol blocks" : "SMILES");
  text += policy == OnInvalid::skip ? (one ? "was left out" : "were left out")
                                    : (one ? "stays as a row without atoms" : "stay as rows without atoms");
  text += fmt::format(": {}{}", source.records ? "record" : "line", one ? "" : "s");
  for (size_t i = 0; i < std::min(invalid.size(), kNamedLines); ++i)
    text += fmt::format("{}{}", i == 0 ? " " : ", ", place_of(source, invalid[i].row));
  if (invalid.size() > kNamedLines) text += fmt::format(", ... and {} more", grouped(invalid.size() - kNamedLines));
  return text + fmt::format(" (first: {}: {})", shown(source, parts.texts[invalid[0].row]), invalid[0].reason);
}

// new_id[row] of every row, -1 for those that are dropped.
void map_ids(const std::vector<int32_t>& new_id, Split& split) {
  for (std::vector<int32_t>* part : {&split.train, &split.val, &split.test}) {
    for (int32_t& id : *part) id = new_id[id];
    std::erase(*part, -1);
  }
}

// Rows with new_id -1 are left out; they have no atoms, so that only offsets change in the structure.
void drop_rows(const std::vector<int32_t>& new_id, GraphSetParts& parts) {
  const size_t tasks = parts.task_names.size();
  TextColumn texts, ids;
  size_t kept = 0;
  for (size_t row = 0; row < new_id.size(); ++row) {
    if (new_id[row] < 0) continue;
    texts.push_back(parts.texts[static_cast<int64_t>(row)]);
    if (!parts.ids.empty()) ids.push_back(parts.ids[static_cast<int64_t>(row)]);
    std::copy_n(parts.targets.begin() + row * tasks, tasks, parts.targets.begin() + kept * tasks);
    parts.node_offsets[kept + 1] = parts.node_offsets[row + 1];
    parts.edge_offsets[kept + 1] = parts.edge_offsets[row + 1];
    ++kept;
  }
  parts.texts = std::move(texts);
  parts.ids = std::move(ids);
  parts.targets.resize(kept * tasks);
  parts.node_offsets.resize(kept + 1);
  parts.edge_offsets.resize(kept + 1);
  parts.num_graphs = static_cast<int64_t>(kept);
}

}  // namespace

int64_t add_structure(ParsedMolecules parsed, OnInvalid policy, const MoleculeSource& source, GraphSetParts& parts,
                      std::vector<std::string>& notes) {
  const std::vector<InvalidMolecule> invalid = std::move(parsed.invalid);
  static_cast<GraphStructure&>(parts) = std::move(parsed);
  if (invalid.empty()) return 0;
  if (policy == OnInvalid::fail) throw invalid_error(invalid[0], source, parts);
  if (policy == OnInvalid::skip && static_cast<int64_t>(invalid.size()) == parts.num_graphs) {
    throw data_error(fmt::format("{}; so is every other row", invalid_error(invalid[0], source, parts).what()));
  }
  notes.push_back(note_text(invalid, policy, source, parts));

  check_splits(parts.splits, parts.num_graphs);  // ids are about to be used as indices
  std::vector<int32_t> new_id(parts.num_graphs, 0);
  for (const InvalidMolecule& one : invalid) new_id[one.row] = -1;
  int32_t next = 0;
  for (size_t row = 0; row < new_id.size(); ++row) {
    if (new_id[row] < 0) continue;
    new_id[row] = policy == OnInvalid::skip ? next++ : static_cast<int32_t>(row);
  }
  for (Split& split : parts.splits) map_ids(new_id, split);
  if (policy == OnInvalid::skip) drop_rows(new_id, parts);
  return static_cast<int64_t>(invalid.size());
}

}  // namespace graphpae
