#include "graphpae/data/molecules.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>

#include "graphpae/core/error.h"
#include "graphpae/core/suggest.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/npy.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](unsigned char x, unsigned char y) { return std::tolower(x) == std::tolower(y); });
}

int find_smiles(const std::vector<std::string>& header, const std::string& wanted) {
  for (size_t i = 0; i < header.size(); ++i) {
    const std::string_view name = trim(header[i]);
    if (wanted.empty() ? equal_ignoring_case(name, "smiles") : name == wanted) return static_cast<int>(i);
  }
  return -1;
}

// A number, NaN for a missing value, or nothing if the text is neither.
std::optional<double> parse_target(std::string_view text) {
  text = trim(text);
  if (text.empty() || text == "NA" || text == "N/A" || text == "None") return kMissing;
  const auto value = parse_real(text);
  if (!value || std::isinf(*value)) return std::nullopt;
  return value;
}

char table_delimiter(const std::string& path) { return ends_with(without_gz(path), ".tsv") ? '\t' : ','; }

struct Column {
  std::string name;
  size_t index;
  bool required;          // not a number is an error, not a reason to leave the column out
  std::string first_bad;  // the first value that is not a number
  std::vector<double> values;
};

GraphSetParts read_table(const std::string& path, const MoleculeOptions& options, std::vector<std::string>& notes) {
  LineReader reader(path);
  std::string_view line;
  std::vector<std::string> fields;
  if (!reader.next(line)) throw data_error(fmt::format("{}: the file is empty", path));
  const char delimiter = table_delimiter(path);
  if (!split_fields(line, delimiter, fields)) throw reader.error("a quote is not closed");
  for (std::string& field : fields) field = std::string(trim(field));
  const std::vector<std::string> header = fields;
  const int smiles = find_smiles(header, options.smiles_column);
  if (smiles < 0) {
    const std::string wanted = options.smiles_column.empty() ? "smiles" : options.smiles_column;
    throw reader.error(
        fmt::format("no column '{}' among {}{}", wanted, fmt::join(header, ", "), did_you_mean(wanted, header)));
  }
  std::vector<Column> columns;
  for (const std::string& task : options.tasks) {
    const auto place = std::find(header.begin(), header.end(), task);
    if (place == header.end()) throw reader.error(fmt::format("no column '{}'{}", task, did_you_mean(task, header)));
    columns.push_back({task, static_cast<size_t>(place - header.begin()), true, "", {}});
  }
  for (size_t i = 0; i < header.size() && options.tasks.empty(); ++i) {
    if (static_cast<int>(i) != smiles) columns.push_back({header[i], i, options.all_columns, "", {}});
  }

  GraphSetParts parts;
  while (reader.next(line)) {
    if (trim(line).empty() && header.size() > 1) continue;
    if (!split_fields(line, delimiter, fields)) throw reader.error("a quote is not closed");
    if (fields.size() != header.size())
      throw reader.error(fmt::format("{} columns, expected {}", fields.size(), header.size()));
    parts.texts.push_back(trim(fields[smiles]));
    for (Column& column : columns) {
      if (!column.first_bad.empty()) continue;
      const auto value = parse_target(fields[column.index]);
      if (!value && column.required) {
        throw reader.error(
            fmt::format("column '{}': '{}' is not a number", column.name, fields[column.index].substr(0, 40)));
      }
      if (!value) column.first_bad = fields[column.index];
      column.values.push_back(value.value_or(kMissing));
    }
  }
  parts.num_graphs = parts.texts.size();
  std::erase_if(columns, [&](const Column& column) {
    if (column.first_bad.empty()) return false;
    notes.push_back(fmt::format("{}: column '{}' is not numeric ('{}') and is ignored", path, column.name,
                                column.first_bad.substr(0, 40)));
    return true;
  });
  parts.targets.resize(parts.num_graphs * columns.size());
  for (size_t t = 0; t < columns.size(); ++t) {
    parts.task_names.push_back(columns[t].name);
    for (int64_t g = 0; g < parts.num_graphs; ++g) parts.targets[g * columns.size() + t] = columns[t].values[g];
  }
  return parts;
}

GraphSetParts read_smi(const std::string& path) {
  LineReader reader(path);
  std::string_view line;
  GraphSetParts parts;
  while (reader.next(line)) {
    line = trim(line);
    if (line.empty() || line[0] == '#') continue;
    const std::string_view smiles = line.substr(0, line.find_first_of(" \t"));
    if (parts.texts.empty() && equal_ignoring_case(smiles, "smiles")) continue;
    parts.texts.push_back(smiles);
  }
  parts.num_graphs = parts.texts.size();
  return parts;
}

// Records end in $$$$; `> <tag>` lines carry values, numeric ones become targets.
GraphSetParts read_sdf(const std::string& path, const MoleculeOptions& options) {
  LineReader reader(path);
  std::string_view line;
  GraphSetParts parts;
  std::string record, tag;
  std::map<std::string, std::map<int64_t, std::string>> tags;  // tag -> record -> text
  bool in_block = true;
  const auto end_record = [&] {
    parts.texts.push_back(record);
    record.clear();
    tag.clear();
    in_block = true;
  };
  while (reader.next(line)) {
    if (line.starts_with("$$$$")) {
      end_record();
    } else if (in_block) {
      record.append(line).append("\n");
      if (line.starts_with("M  END")) in_block = false;
    } else if (line.starts_with('>')) {
      const size_t open = line.find('<'), close = line.rfind('>');
      tag = open != std::string_view::npos && close > open ? std::string(line.substr(open + 1, close - open - 1)) : "";
    } else if (!tag.empty() && !trim(line).empty()) {
      tags[tag].emplace(parts.texts.size(), trim(line));
    }
  }
  if (!trim(record).empty()) {
    if (in_block) throw reader.error("the last record has no M  END");
    end_record();
  }
  parts.num_graphs = parts.texts.size();
  std::vector<std::vector<double>> columns;
  for (const auto& [name, values] : tags) {
    const bool wanted = std::find(options.tasks.begin(), options.tasks.end(), name) != options.tasks.end();
    if (!options.tasks.empty() && !wanted) continue;
    std::vector<double> column(parts.num_graphs, kMissing);
    bool numeric = true;
    for (const auto& [row, text] : values) {
      const auto value = parse_target(text);
      if (!value && wanted)
        throw data_error(
            fmt::format("{}: record {}: tag '{}': '{}' is not a number", path, row + 1, name, text.substr(0, 40)));
      numeric = numeric && value.has_value();
      column[row] = value.value_or(kMissing);
    }
    if (!numeric) continue;
    parts.task_names.push_back(name);
    columns.push_back(std::move(column));
  }
  parts.targets.resize(parts.num_graphs * columns.size());
  for (size_t t = 0; t < columns.size(); ++t) {
    for (int64_t g = 0; g < parts.num_graphs; ++g) parts.targets[g * columns.size() + t] = columns[t][g];
  }
  return parts;
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

std::vector<int64_t> offsets_from(const std::vector<int32_t>& counts, const std::string& name) {
  std::vector<int64_t> offsets(1, 0);
  for (const int32_t count : counts) {
    if (count < 0) throw data_error(fmt::format("{}: a negative count", name));
    offsets.push_back(offsets.back() + count);
  }
  return offsets;
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

bool has_smiles_column(const std::string& path, const std::string& smiles_column) {
  LineReader reader(path);
  std::string_view line;
  std::vector<std::string> header;
  return reader.next(line) && split_fields(line, table_delimiter(path), header) &&
         find_smiles(header, smiles_column) >= 0;
}

GraphSetParts read_molecules(const std::string& path, const MoleculeOptions& options, std::vector<std::string>& notes) {
  const std::string name = without_gz(path);
  GraphSetParts parts = ends_with(name, ".smi")   ? read_smi(path)
                        : ends_with(name, ".sdf") ? read_sdf(path, options)
                                                  : read_table(path, options, notes);
  if (parts.num_graphs == 0) throw data_error(fmt::format("{}: holds no molecules", path));
  return parts;
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
  parts.node_offsets = offsets_from(node_counts.to_int32(), node_counts.name);
  parts.edge_offsets = offsets_from(bond_counts.to_int32(), bond_counts.name);
  if (node_counts.count() != parts.num_graphs) {
    throw data_error(
        fmt::format("{}: has {} graphs, expected {}", node_counts.name, node_counts.count(), parts.num_graphs));
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
