#include "graphpae/data/molecules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>

#include "graphpae/core/error.h"
#include "graphpae/core/suggest.h"
#include "graphpae/data/chemistry.h"
#include "graphpae/data/target_column.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/npy.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

constexpr size_t kLongestFirstSmiles = 10000;  // an edge list may be one long line

bool is_name_of_molecules(std::string_view name) {
  constexpr std::string_view kNames[] = {"mol",  "mols",     "molecule", "molecules", "structure", "compound",
                                         "drug", "chemical", "ligand",   "canonical", "smi"};
  return std::find(std::begin(kNames), std::end(kNames), lower(trim(name))) != std::end(kNames);
}

std::string_view first_word(std::string_view line) {
  line = trim(line);
  return line.substr(0, line.find_first_of(" \t"));
}

// Records of an .sdf file: mol blocks, and for every tag the text by record.
struct Records {
  TextColumn blocks;
  std::map<std::string, std::map<int64_t, std::string>> tags;
};

// Records end in $$$$; `> <tag>` lines carry values.
Records read_records(const std::string& path) {
  LineReader reader(path);
  std::string_view line;
  Records records;
  std::string block, tag;
  bool in_block = true;
  const auto end_record = [&] {
    records.blocks.push_back(block);
    block.clear();
    tag.clear();
    in_block = true;
  };
  while (reader.next(line)) {
    if (line.starts_with("$$$$")) {
      end_record();
    } else if (in_block) {
      block.append(line).append("\n");
      if (line.starts_with("M  END")) in_block = false;
    } else if (line.starts_with('>')) {
      const size_t open = line.find('<'), close = line.rfind('>');
      tag = open != std::string_view::npos && close > open ? std::string(line.substr(open + 1, close - open - 1)) : "";
    } else if (!tag.empty() && !trim(line).empty()) {
      records.tags[tag].emplace(records.blocks.size(), trim(line));
    }
  }
  if (!trim(block).empty()) {
    if (in_block) throw reader.error("the last record has no M  END");
    end_record();
  }
  return records;
}

MoleculeRows read_sdf(const std::string& path, const MoleculeOptions& options, std::vector<std::string>& notes) {
  Records records = read_records(path);
  std::vector<std::string> tags, ignored;
  for (const auto& [tag, values] : records.tags) tags.push_back(tag);
  for (const std::string& task : options.tasks) {
    if (!records.tags.contains(task))
      throw data_error(fmt::format("{}: no tag '{}'{}", path, task, did_you_mean(task, tags)));
  }
  MoleculeRows rows;
  rows.source.records = true;
  std::vector<std::vector<double>> columns;
  for (const std::string& tag : options.tasks.empty() ? tags : options.tasks) {
    const bool asked_for = !options.tasks.empty();
    TargetColumn column(tag);
    const std::map<int64_t, std::string>& texts = records.tags.at(tag);
    for (int64_t row = 0; row < records.blocks.size(); ++row) {
      const auto text = texts.find(row);
      column.add(text == texts.end() ? "" : text->second, row + 1);
    }
    TargetColumn::Result result = std::move(column).finish(asked_for);
    if (result.reason.empty()) {
      rows.parts.task_names.push_back(tag);
      columns.push_back(std::move(result.values));
      if (!result.note.empty()) notes.push_back(fmt::format("{}: tag '{}' {}", path, tag, result.note));
    } else if (!asked_for) {
      ignored.push_back(tag);
    } else if (result.place > 0) {
      throw data_error(
          fmt::format("{}: record {}: tag '{}': '{}' is not a number", path, result.place, tag, result.text));
    } else {
      throw data_error(fmt::format("{}: tag '{}' {}", path, tag, result.reason));
    }
  }
  if (!ignored.empty()) {
    notes.push_back(
        fmt::format("{}: tags that are not numeric or hold ids are ignored: {}", path, fmt::join(ignored, ", ")));
  }
  rows.parts.texts = std::move(records.blocks);
  rows.parts.num_graphs = rows.parts.texts.size();
  rows.parts.targets.reserve(rows.parts.num_graphs * columns.size());
  for (int64_t g = 0; g < rows.parts.num_graphs; ++g) {
    for (const std::vector<double>& column : columns) rows.parts.targets.push_back(column[g]);
  }
  return rows;
}

std::vector<int32_t> read_ids(const std::string& path) {
  LineReader reader(path);
  std::string_view line;
  std::vector<int32_t> ids;
  while (reader.next(line)) {
    if (trim(line).empty()) continue;
    const auto id = parse_int(line);
    if (!id || *id < 0 || *id > INT32_MAX)
      throw reader.error(fmt::format("'{}' is not a row number", trim(line).substr(0, 40)));
    ids.push_back(static_cast<int32_t>(*id));
  }
  return ids;
}

std::vector<int64_t> offsets_from(const NpyArray& array) {
  const std::vector<int32_t> counts = array.to_int32();
  if (std::any_of(counts.begin(), counts.end(), [](int32_t count) { return count < 0; }))
    throw data_error(fmt::format("{}: a negative count", array.name));
  return offsets_of(counts);
}

Codes codes_from(const NpyArray& array) {
  array.expect_dimensions(2);
  Codes codes{array.shape[1], {}};
  codes.values.reserve(array.count());
  for (const int32_t value : array.to_int32()) {
    if (value < 0 || value > INT16_MAX)
      throw data_error(fmt::format("{}: code {} is outside 0..32767", array.name, value));
    codes.values.push_back(static_cast<int16_t>(value));
  }
  return codes;
}

std::string codes_bytes(const Codes& codes) {
  const int64_t rows = codes.columns == 0 ? 0 : static_cast<int64_t>(codes.values.size()) / codes.columns;
  if (std::all_of(codes.values.begin(), codes.values.end(), [](int16_t v) { return v <= UINT8_MAX; })) {
    const std::vector<uint8_t> narrow(codes.values.begin(), codes.values.end());
    return npy_bytes<uint8_t>(narrow, {rows, codes.columns});
  }
  return npy_bytes<int16_t>(codes.values, {rows, codes.columns});
}

}  // namespace

bool SmilesList::next() {
  std::string_view line;
  while (reader_.next(line)) {
    smiles_ = first_word(line);
    if (smiles_.empty() || smiles_[0] == '#') continue;
    const bool header = first_ && lower(smiles_) == "smiles";
    if (header) continue;
    first_ = false;
    return true;
  }
  return false;
}

MoleculeRows read_smiles_list(const std::string& path) {
  SmilesList list(path);
  MoleculeRows rows;
  rows.source.file = path;
  while (list.next()) {
    rows.parts.texts.push_back(list.smiles());
    rows.source.lines.push_back(list.reader().line_number());
  }
  rows.parts.num_graphs = rows.parts.texts.size();
  return rows;
}

bool starts_with_smiles(const std::string& path) {
  LineReader reader(path);
  std::string_view line;
  if (!reader.next(line) || trim(line).size() > kLongestFirstSmiles || trim(line) != first_word(line)) return false;
  TextColumn texts;
  texts.push_back(trim(line));
  return !parse_real(texts[0]) && parse_molecules(texts, Featurizer::transfer, Threads{1}).invalid.empty();
}

std::string unnamed_smiles_column(const std::string& path) {
  constexpr size_t kRows = 8;
  LineReader reader(path);
  std::string_view line;
  std::vector<std::string> names, fields;
  if (!reader.next(line)) return "";
  const char delimiter = sniff_delimiter(line);
  if (!split_fields(line, delimiter, names)) return "";
  std::vector<std::vector<std::string>> columns(names.size());
  for (size_t row = 0; row < kRows && reader.next(line); ++row) {
    if (!split_fields(line, delimiter, fields) || fields.size() != names.size()) return "";
    for (size_t c = 0; c < fields.size(); ++c) columns[c].push_back(fields[c]);
  }
  for (size_t c = 0; c < names.size(); ++c) {
    TextColumn texts;
    size_t drawn = 0;
    for (const std::string& text : columns[c]) {
      if (is_missing_text(text) || text.size() > kLongestFirstSmiles) continue;
      texts.push_back(trim(text));
      drawn += text.find_first_of("()[]=#") != std::string::npos;
    }
    // Names of nodes may be SMILES by accident (C, NO), but not with brackets and bonds, nor under the name of
    // molecules.
    const bool likely = is_name_of_molecules(names[c]) || 2 * drawn >= static_cast<size_t>(texts.size());
    const bool all_numbers = std::all_of(columns[c].begin(), columns[c].end(),
                                         [](const std::string& text) { return parse_real(text).has_value(); });
    if (texts.empty() || !likely || all_numbers) continue;
    const size_t invalid = parse_molecules(texts, Featurizer::transfer, Threads{1}).invalid.size();
    if (4 * invalid <= static_cast<size_t>(texts.size())) return std::string(trim(names[c]));
  }
  return "";
}

std::string inchi_message(const std::string& path) {
  constexpr int kRows = 20;
  LineReader reader(path);
  std::string_view line;
  std::vector<std::string> names, fields;
  if (!reader.next(line)) return "";
  const char delimiter = sniff_delimiter(line);
  if (!split_fields(line, delimiter, names)) return "";
  std::string column, keys;
  for (const std::string& name : names) {
    const std::string word = lower(name);
    if (word.find("inchi") == std::string::npos || word.find("inchi=") != std::string::npos) continue;
    (word.find("key") == std::string::npos ? column : keys) = trim(name);
  }
  bool seen = line.find("InChI=") != std::string_view::npos;
  for (int row = 0; row < kRows && !seen && reader.next(line); ++row) {
    seen = line.find("InChI=") != std::string_view::npos;
    if (!seen || !column.empty() || !split_fields(line, delimiter, fields)) continue;
    for (size_t c = 0; c < std::min(fields.size(), names.size()); ++c) {
      if (trim(fields[c]).starts_with("InChI=")) column = trim(names[c]);
    }
  }
  if (seen || !column.empty()) {
    return fmt::format(
        "{}: {} InChI, which RDKit as packaged for Debian does not read; add a column 'smiles', in Python "
        "rdkit.Chem.MolToSmiles(rdkit.Chem.MolFromInchi(text))",
        path, column.empty() ? "holds" : fmt::format("column '{}' holds", column));
  }
  if (keys.empty()) return "";
  return fmt::format("{}: column '{}' holds keys of InChI, from which no structure can be made; add a column 'smiles'",
                     path, keys);
}

MoleculeRows read_molecules(const std::string& path, const MoleculeOptions& options, std::vector<std::string>& notes) {
  const std::string name = without_gz(path);
  const bool list = name.ends_with(".smi"), records = name.ends_with(".sdf");
  if (list && !options.tasks.empty())
    throw usage_error(fmt::format("{}: a .smi file has no columns, and so no task '{}'", path, options.tasks[0]));
  MoleculeRows rows = list      ? read_smiles_list(path)
                      : records ? read_sdf(path, options, notes)
                                : read_molecule_table(path, options, notes);
  if (rows.parts.num_graphs == 0) throw data_error(fmt::format("{}: holds no molecules", path));
  rows.source.file = path;
  std::vector<int64_t>& lines = rows.source.lines;
  if (!lines.empty() && lines.back() - lines.front() + 1 == rows.parts.num_graphs) {  // no gaps
    rows.source.first_line = lines.front();
    lines.clear();
    lines.shrink_to_fit();
  }
  return rows;
}

std::vector<Split> read_molecule_split(const std::string& directory) {
  if (!std::filesystem::is_directory(directory)) return {};
  Split split;
  const std::pair<const char*, std::vector<int32_t>*> parts[] = {
      {"train", &split.train}, {"valid", &split.val}, {"test", &split.test}};
  for (const auto& [name, ids] : parts) {
    const std::string path = existing_gz(fmt::format("{}/{}.csv", directory, name));
    if (path.empty()) throw data_error(fmt::format("{}: {}.csv or {}.csv.gz is missing", directory, name, name));
    *ids = read_ids(path);
  }
  return {split};
}

void read_molecule_graphs(const std::string& path, GraphSetParts& parts) {
  const NpzFile file(path);
  const NpyArray node_counts = file.read("num_nodes"), bond_counts = file.read("num_bonds"), bonds = file.read("bonds");
  parts.node_offsets = offsets_from(node_counts);
  parts.edge_offsets = offsets_from(bond_counts);
  for (const NpyArray* counts : {&node_counts, &bond_counts}) {
    if (counts->count() != parts.num_graphs)
      throw data_error(fmt::format("{}: has {} graphs, expected {}", counts->name, counts->count(), parts.num_graphs));
  }
  bonds.expect_dimensions(2);
  if (bonds.shape[1] != 2) throw data_error(fmt::format("{}: has {} columns, expected 2", bonds.name, bonds.shape[1]));
  const std::vector<int32_t> ends = bonds.to_int32();
  parts.edges.resize(ends.size() / 2);
  for (size_t e = 0; e < parts.edges.size(); ++e) parts.edges[e] = {ends[2 * e], ends[2 * e + 1]};
  parts.node_codes = codes_from(file.read("atom_feat"));
  parts.edge_codes = codes_from(file.read("bond_feat"));
}

void write_molecule_graphs(const std::string& path, const GraphSetParts& parts) {
  std::vector<int32_t> nodes, bonds, ends;
  for (int64_t g = 0; g < parts.num_graphs; ++g) {
    nodes.push_back(static_cast<int32_t>(parts.node_offsets[g + 1] - parts.node_offsets[g]));
    bonds.push_back(static_cast<int32_t>(parts.edge_offsets[g + 1] - parts.edge_offsets[g]));
  }
  for (const Edge& edge : parts.edges) ends.insert(ends.end(), {edge.src, edge.dst});
  write_zip(path, {{"num_nodes.npy", npy_bytes<int32_t>(nodes, {parts.num_graphs})},
                   {"num_bonds.npy", npy_bytes<int32_t>(bonds, {parts.num_graphs})},
                   {"bonds.npy", npy_bytes<int32_t>(ends, {static_cast<int64_t>(parts.edges.size()), 2})},
                   {"atom_feat.npy", codes_bytes(parts.node_codes)},
                   {"bond_feat.npy", codes_bytes(parts.edge_codes)}});
}

}  // namespace graphpae
