#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_set>

#include "graphpae/core/error.h"
#include "graphpae/core/suggest.h"
#include "graphpae/data/molecules.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

constexpr double kMissing = std::numeric_limits<double>::quiet_NaN();
constexpr size_t kLongestValue = 40;  // in messages

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
  std::string name;
  size_t index;
  bool required;          // not a number is an error, not a reason to leave the column out
  std::string first_bad;  // the first value that is not a number
  std::vector<double> values;
};

std::vector<Column> target_columns(const MoleculeTable& table, const MoleculeOptions& options) {
  const std::vector<std::string>& names = table.names();
  std::vector<Column> columns;
  for (const std::string& task : options.tasks) {
    const auto place = std::find(names.begin(), names.end(), task);
    if (place == names.end())
      throw table.reader().error(
          fmt::format("no column '{}' among {}{}", task, fmt::join(names, ", "), did_you_mean(task, names)));
    columns.push_back({task, static_cast<size_t>(place - names.begin()), true, "", {}});
  }
  for (size_t i = 0; i < names.size() && options.tasks.empty(); ++i) {
    if (i != table.smiles_index()) columns.push_back({names[i], i, options.all_columns, "", {}});
  }
  return columns;
}

// A column without a name is the row index that some programs write first.
bool named_like_an_id(const std::string& column) {
  constexpr std::string_view kNames[] = {"", "id", "cid", "index", "idx", "unnamed: 0", "row"};
  constexpr std::string_view kEnds[] = {"_id", " id", "-id", "_cid", "_index", "_idx"};
  const std::string name = lower(column);
  return std::find(std::begin(kNames), std::end(kNames), name) != std::end(kNames) ||
         std::any_of(std::begin(kEnds), std::end(kEnds), [&](std::string_view end) { return name.ends_with(end); });
}

std::string shown(const std::string& value) { return value.substr(0, kLongestValue); }

void read_value(const std::string& text, Column& column, const LineReader& reader) {
  if (!column.first_bad.empty()) return;
  const std::optional<double> value = parse_target(text);
  if (!value && column.required)
    throw reader.error(fmt::format("column '{}': '{}' is not a number", column.name, shown(text)));
  if (!value) column.first_bad = text;
  column.values.push_back(value.value_or(kMissing));
}

// Why a column is not a target, or "".
std::string reason_to_ignore(const Column& column) {
  if (!column.first_bad.empty()) return fmt::format("is not numeric ('{}')", shown(column.first_bad));
  if (column.required) return "";
  if (std::all_of(column.values.begin(), column.values.end(), [](double value) { return std::isnan(value); }))
    return "has no values";
  if (are_ids(column.name, column.values)) return "holds ids, not targets,";
  return "";
}

}  // namespace

bool are_ids(const std::string& name, const std::vector<double>& values) {
  std::unordered_set<double> seen;
  return named_like_an_id(name) && std::all_of(values.begin(), values.end(), [&](double value) {
           return value == std::floor(value) && seen.insert(value).second;
         });
}

std::optional<double> parse_target(std::string_view text) {
  text = trim(text);
  if (const std::optional<double> value = parse_real(text)) return std::isinf(*value) ? std::nullopt : value;
  const std::string word = lower(text.substr(0, kLongestValue));
  if (word.empty() || word == "na" || word == "n/a" || word == "none" || word == "null") return kMissing;
  return std::nullopt;
}

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
  while (table.next()) {
    parts.texts.push_back(table.smiles());
    rows.source.lines.push_back(table.reader().line_number());
    for (Column& column : columns) read_value(table.fields()[column.index], column, table.reader());
  }
  parts.num_graphs = parts.texts.size();
  std::erase_if(columns, [&](const Column& column) {
    const std::string reason = reason_to_ignore(column);
    if (!reason.empty()) notes.push_back(fmt::format("{}: column '{}' {} and is ignored", path, column.name, reason));
    return !reason.empty();
  });
  parts.targets.resize(parts.num_graphs * columns.size());
  for (size_t t = 0; t < columns.size(); ++t) {
    parts.task_names.push_back(columns[t].name);
    for (int64_t g = 0; g < parts.num_graphs; ++g) parts.targets[g * columns.size() + t] = columns[t].values[g];
  }
  return rows;
}

}  // namespace graphpae
