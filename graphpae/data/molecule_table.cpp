#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "graphpae/core/error.h"
#include "graphpae/core/suggest.h"
#include "graphpae/data/molecule_ids.h"
#include "graphpae/data/molecules.h"
#include "graphpae/data/target_column.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

struct TableHeader {
  char delimiter = ',';
  std::vector<std::string> names;
  std::vector<size_t> smiles;  // columns that may hold SMILES: one if all is well
};

// Nothing if a quote is not closed.
std::optional<TableHeader> split_header(std::string_view line, char delimiter) {
  TableHeader header{delimiter, {}, {}};
  if (!split_fields(line, delimiter, header.names)) return std::nullopt;
  for (std::string& name : header.names) name = std::string(trim(name));
  return header;
}

// Columns whose name holds the word.
std::vector<size_t> columns_of_smiles(const std::vector<std::string>& names) {
  std::vector<size_t> columns;
  for (size_t i = 0; i < names.size(); ++i) {
    if (lower(names[i]).find("smiles") != std::string::npos) columns.push_back(i);
  }
  return columns;
}

// A delimiter is right if the column of SMILES appears; else the likely one is taken.
std::optional<TableHeader> parse_header(std::string_view line, const std::string& wanted) {
  const auto is_wanted = [&](const std::string& name) {
    return wanted.empty() ? lower(name) == "smiles" : name == wanted;
  };
  for (const char delimiter : {',', '\t', ';', ' '}) {
    std::optional<TableHeader> header = split_header(line, delimiter);
    if (!header) continue;
    const auto place = std::find_if(header->names.begin(), header->names.end(), is_wanted);
    if (place == header->names.end()) continue;
    header->smiles = {static_cast<size_t>(place - header->names.begin())};
    return header;
  }
  const char likely = sniff_delimiter(line);
  std::optional<TableHeader> header = split_header(line, likely == ' ' ? ',' : likely);
  if (header && wanted.empty()) header->smiles = columns_of_smiles(header->names);
  return header;
}

size_t smiles_column(const TableHeader& header, const std::string& wanted, const LineReader& reader) {
  if (header.smiles.size() == 1) return header.smiles[0];
  std::vector<std::string> names;
  for (const size_t i : header.smiles) names.push_back(header.names[i]);
  if (!names.empty()) {
    throw reader.error(
        fmt::format("several columns may hold SMILES: {}; --smiles-column names one of them", fmt::join(names, ", ")));
  }
  const std::string shown = wanted.empty() ? "smiles" : wanted;
  std::string hint = did_you_mean(shown, header.names);
  const std::vector<size_t> usual = columns_of_smiles(header.names);
  if (hint.empty() && !usual.empty()) hint = fmt::format(" (did you mean '{}'?)", header.names[usual[0]]);
  throw reader.error(fmt::format("no column '{}' among {}{}", shown, fmt::join(header.names, ", "), hint));
}

struct Column {
  size_t index;
  bool asked_for;  // what is no target is an error, not a reason to leave the column out
  TargetColumn target;
};

std::vector<Column> target_columns(const MoleculeTable& table, const MoleculeOptions& options) {
  const std::vector<std::string>& names = table.names();
  std::vector<Column> columns;
  for (const std::string& task : options.tasks) {
    const auto place = std::find(names.begin(), names.end(), task);
    if (place == names.end())
      throw table.reader().error(
          fmt::format("no column '{}' among {}{}", task, fmt::join(names, ", "), did_you_mean(task, names)));
    columns.push_back({static_cast<size_t>(place - names.begin()), true, TargetColumn(task)});
  }
  for (size_t i = 0; i < names.size() && options.tasks.empty(); ++i) {
    if (i != table.smiles_index() && (options.id_column.empty() || names[i] != options.id_column))
      columns.push_back({i, options.all_columns, TargetColumn(names[i])});
  }
  return columns;
}

// "column 'a': 'yes' is not a number" of a text, "column 'a' holds 3 different texts ..." of the whole column.
Error no_target_error(const std::string& place, const std::string& column, const TargetColumn::Result& result) {
  return data_error(result.place > 0 ? fmt::format("{}: column '{}': '{}' is not a number", place, column, result.text)
                                     : fmt::format("{}: column '{}' {}", place, column, result.reason));
}

}  // namespace

bool has_smiles_column(const std::string& path) {
  LineReader reader(path);
  std::string_view line;
  if (!reader.next(line)) return false;
  const std::optional<TableHeader> header = parse_header(line, "");
  return header && !header->smiles.empty();
}

MoleculeTable::MoleculeTable(const std::string& path, const std::string& wanted) : SmilesRows(path) {
  std::string_view line;
  if (!reader_.next(line)) throw data_error(fmt::format("{}: the file is empty", path));
  std::optional<TableHeader> header = parse_header(line, wanted);
  if (!header) throw reader_.error("a quote is not closed");
  smiles_ = smiles_column(*header, wanted, reader_);
  delimiter_ = header->delimiter;
  names_ = std::move(header->names);
}

bool MoleculeTable::next() {
  std::string_view line;
  do {
    if (!reader_.next(line)) return false;
  } while (trim(line).empty());
  if (!split_fields(line, delimiter_, fields_)) throw reader_.error("a quote is not closed");
  if (fields_.size() != names_.size())
    throw reader_.error(fmt::format("{} columns, expected {}", fields_.size(), names_.size()));
  return true;
}

std::string_view MoleculeTable::smiles() const { return trim(fields_[smiles_]); }

MoleculeRows read_molecule_table(const std::string& path, const MoleculeOptions& options,
                                 std::vector<std::string>& notes) {
  MoleculeTable table(path, options.smiles_column);
  std::vector<Column> columns = target_columns(table, options);

  MoleculeRows rows;
  GraphSetParts& parts = rows.parts;
  const int id = options.all_columns && options.id_column.empty()
                     ? -1
                     : id_column_of(table.names(), table.smiles_index(), options.id_column, path);
  if (id >= 0) parts.id_name = table.names()[static_cast<size_t>(id)];
  while (table.next()) {
    parts.texts.push_back(table.smiles());
    if (id >= 0) parts.ids.push_back(trim(table.fields()[static_cast<size_t>(id)]));
    rows.source.lines.push_back(table.reader().line_number());
    for (Column& column : columns) column.target.add(table.fields()[column.index], table.reader().line_number());
  }
  parts.num_graphs = parts.texts.size();
  std::vector<std::vector<double>> values;
  for (Column& column : columns) {
    const std::string name = column.target.name();
    TargetColumn::Result result = std::move(column.target).finish(column.asked_for);
    const std::string place = result.place > 0 ? fmt::format("{}:{}", path, result.place) : path;
    if (!result.reason.empty() && column.asked_for) throw no_target_error(place, name, result);
    if (!result.reason.empty()) {
      notes.push_back(fmt::format("{}: column '{}' {} and is ignored", path, name, result.reason));
      continue;
    }
    if (!result.note.empty()) notes.push_back(fmt::format("{}: column '{}' {}", path, name, result.note));
    parts.task_names.push_back(name);
    values.push_back(std::move(result.values));
  }
  parts.targets.resize(parts.num_graphs * values.size());
  for (size_t t = 0; t < values.size(); ++t) {
    for (int64_t g = 0; g < parts.num_graphs; ++g) parts.targets[g * values.size() + t] = values[t][g];
  }
  return rows;
}

}  // namespace graphpae
