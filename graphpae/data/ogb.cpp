#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>

#include "graphpae/core/error.h"
#include "graphpae/data/edge_list.h"
#include "graphpae/data/graph_readers.h"
#include "graphpae/data/node_table.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;

std::string raw_file(const std::string& directory, const std::string& name) {
  const std::string path = existing_gz(fmt::format("{}/raw/{}.csv", directory, name));
  if (path.empty()) throw data_error(fmt::format("{}: raw/{}.csv.gz is missing", directory, name));
  return path;
}

bool has_raw(const std::string& directory, const std::string& name) {
  return !existing_gz(fmt::format("{}/raw/{}.csv", directory, name)).empty();
}

// A table of numbers without a header; empty fields are NaN.
template <class T>
struct Numbers {
  std::string path;
  int64_t rows = 0, columns = 0;
  Buffer<T> values;
};

template <class T>
Numbers<T> read_numbers(const std::string& path) {
  LineReader reader(path);
  std::string_view line;
  Numbers<T> table{path, 0, 0, {}};
  while (reader.next(line)) {
    int64_t columns = 0;
    while (true) {
      const size_t comma = line.find(',');
      const std::string_view field = trim(line.substr(0, comma));
      const auto value = field.empty() ? std::numeric_limits<double>::quiet_NaN() : parse_real(field);
      if (!value) throw reader.error(fmt::format("'{}' is not a number", field.substr(0, 40)));
      table.values.push_back(static_cast<T>(*value));
      ++columns;
      if (comma == std::string_view::npos) break;
      line.remove_prefix(comma + 1);
    }
    if (table.rows++ == 0) table.columns = columns;
    if (columns != table.columns) throw reader.error(fmt::format("{} columns, expected {}", columns, table.columns));
  }
  return table;
}

std::vector<int64_t> read_counts(const std::string& path) {
  LineReader reader(path);
  std::string_view line;
  std::vector<int64_t> counts;
  while (reader.next(line)) {
    const auto count = parse_int(line);
    if (!count || *count < 0 || *count > kMaxNodes)
      throw reader.error(fmt::format("'{}' is not a count", trim(line).substr(0, 40)));
    counts.push_back(*count);
  }
  return counts;
}

std::vector<Split> read_ogb_split(const std::string& directory) {
  const std::string root = directory + "/split";
  if (!fs::is_directory(root)) return {};
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(root)) {
    if (entry.is_directory()) names.push_back(entry.path().string());
  }
  std::sort(names.begin(), names.end());
  return names.empty() ? read_molecule_split(root) : read_molecule_split(names[0]);
}

Codes codes_from(const Numbers<float>& table, int64_t rows) {
  if (table.rows != rows) throw data_error(fmt::format("{}: {} rows, expected {}", table.path, table.rows, rows));
  Codes codes{table.columns, {}};
  for (size_t i = 0; i < table.values.size(); ++i) {
    const float value = table.values[i];
    if (!(value >= 0 && value <= INT16_MAX) || value != std::floor(value)) {
      throw data_error(fmt::format("{}:{}: {} is not a code", table.path, i / table.columns + 1, value));
    }
    codes.values.push_back(static_cast<int16_t>(value));
  }
  return codes;
}

// Class c holds the years from the c/C quantile up to, but without, the (c+1)/C quantile.
std::vector<int32_t> year_labels(const Numbers<float>& years, int64_t classes) {
  Buffer<float> sorted = years.values;
  std::sort(sorted.begin(), sorted.end());
  std::vector<double> bounds;
  for (int64_t c = 1; c < classes; ++c) {
    const double place = static_cast<double>(c) / static_cast<double>(classes) * static_cast<double>(sorted.size() - 1);
    const size_t low = static_cast<size_t>(place), high = std::min(low + 1, sorted.size() - 1);
    bounds.push_back(sorted[low] + (place - static_cast<double>(low)) * (sorted[high] - sorted[low]));
  }
  std::vector<int32_t> labels;
  for (const float year : years.values) {
    labels.push_back(static_cast<int32_t>(std::upper_bound(bounds.begin(), bounds.end(), year) - bounds.begin()));
  }
  return labels;
}

}  // namespace

bool is_ogb(const std::string& directory) { return has_raw(directory, "edge") && has_raw(directory, "num-node-list"); }

bool is_ogb_node_level(const std::string& directory) {
  return has_raw(directory, "node-label") && !has_raw(directory, "graph-label");
}

GraphParts read_ogb_nodes(const std::string& directory, int64_t year_classes, Threads threads) {
  const std::string count_path = raw_file(directory, "num-node-list");
  const std::vector<int64_t> counts = read_counts(count_path);
  if (counts.size() != 1) throw data_error(fmt::format("{}: {} graphs, expected one", count_path, counts.size()));
  GraphParts parts;
  parts.num_nodes = counts[0];
  if (has_raw(directory, "node-feat")) {
    const std::string path = raw_file(directory, "node-feat");
    Numbers<float> table = read_numbers<float>(path);
    parts.features = naming(path, [&] { return Features::dense(table.rows, table.columns, std::move(table.values)); });
  }
  if (year_classes > 0) {
    parts.labels = year_labels(read_numbers<float>(raw_file(directory, "node_year")), year_classes);
  } else {
    parts.labels = read_labels(raw_file(directory, "node-label"), nullptr, parts.num_nodes).values;
  }
  parts.edges = read_edge_list(raw_file(directory, "edge"), {NodeIds::numbers, parts.num_nodes, threads}).blocks;
  parts.splits = read_ogb_split(directory);
  return parts;
}

MoleculeRows read_ogb_graphs(const std::string& directory, Threads threads) {
  const std::vector<int64_t> nodes = read_counts(raw_file(directory, "num-node-list"));
  const std::vector<int64_t> edges = read_counts(raw_file(directory, "num-edge-list"));
  MoleculeRows rows;
  GraphSetParts& parts = rows.parts;
  parts.num_graphs = static_cast<int64_t>(nodes.size());
  parts.node_offsets = offsets_of(nodes);
  parts.edge_offsets = offsets_of(edges);

  const EdgeBlocks blocks = read_edge_list(raw_file(directory, "edge"), {NodeIds::numbers, -1, threads}).blocks;
  for (const auto& block : blocks) parts.edges.insert(parts.edges.end(), block.begin(), block.end());
  if (has_raw(directory, "node-feat"))
    parts.node_codes = codes_from(read_numbers<float>(raw_file(directory, "node-feat")), parts.node_offsets.back());
  if (has_raw(directory, "edge-feat"))
    parts.edge_codes = codes_from(read_numbers<float>(raw_file(directory, "edge-feat")), parts.edge_offsets.back());

  const Numbers<double> labels = read_numbers<double>(raw_file(directory, "graph-label"));
  if (labels.rows != parts.num_graphs)
    throw data_error(fmt::format("{}: {} rows for {} graphs", labels.path, labels.rows, parts.num_graphs));
  parts.targets.assign(labels.values.begin(), labels.values.end());
  for (int64_t t = 0; t < labels.columns; ++t) parts.task_names.push_back(fmt::format("task_{}", t));

  // The table of SMILES, where there is one, also names the tasks. Their values were read, so its notes are no news.
  if (const std::string mapping = existing_gz(directory + "/mapping/mol.csv"); !mapping.empty()) {
    std::vector<std::string> notes;
    MoleculeRows table = read_molecules(mapping, {}, notes);
    if (table.parts.num_graphs != parts.num_graphs)
      throw data_error(
          fmt::format("{}: {} molecules for {} graphs", mapping, table.parts.num_graphs, parts.num_graphs));
    parts.texts = std::move(table.parts.texts);
    if (table.parts.task_names.size() == parts.task_names.size()) parts.task_names = table.parts.task_names;
    rows.source = std::move(table.source);
  }
  parts.splits = read_ogb_split(directory);
  return rows;
}

}  // namespace graphpae
