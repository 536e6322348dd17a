#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "graphpae/core/error.h"
#include "graphpae/data/edge_list.h"
#include "graphpae/data/graph_readers.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kEdgeFile = "_A.txt";

// DIR/NAME or DIR/raw/NAME, so that NAME_A.txt is a file; "" if there is none.
std::string tu_stem(const std::string& directory) {
  for (const std::string& root : {directory, directory + "/raw"}) {
    if (!fs::is_directory(root)) continue;
    std::vector<std::string> stems;
    for (const auto& entry : fs::directory_iterator(root)) {
      const std::string path = without_gz(entry.path().string());
      if (!path.ends_with(kEdgeFile)) continue;
      const std::string stem = path.substr(0, path.size() - kEdgeFile.size());
      for (const char* what : {"_graph_indicator.txt", "_node_labels.txt", "_node_attributes.txt"}) {
        if (!existing_gz(stem + what).empty()) {
          stems.push_back(stem);
          break;
        }
      }
    }
    if (!stems.empty()) return *std::min_element(stems.begin(), stems.end());
  }
  return "";
}

// Rows of numbers, separated by commas.
struct TuTable {
  std::string path;
  int64_t rows = 0, columns = 0;
  std::vector<double> values;

  double at(int64_t row, int64_t column) const { return values[row * columns + column]; }
};

// A table without rows if there is no such file.
TuTable read_table(const std::string& stem, const char* what) {
  TuTable table;
  table.path = existing_gz(fmt::format("{}_{}.txt", stem, what));
  if (table.path.empty()) return table;
  LineReader reader(table.path);
  std::string_view line;
  std::vector<std::string> fields;
  while (reader.next(line)) {
    if (trim(line).empty()) continue;
    split_fields(line, ',', fields);
    if (table.rows++ == 0) table.columns = static_cast<int64_t>(fields.size());
    if (static_cast<int64_t>(fields.size()) != table.columns)
      throw reader.error(fmt::format("{} columns, expected {}", fields.size(), table.columns));
    for (const std::string& field : fields) {
      const std::optional<double> value = parse_real(field);
      if (!value && !is_missing_text(field))
        throw reader.error(fmt::format("'{}' is not a number", trim(field).substr(0, 40)));
      table.values.push_back(value.value_or(std::numeric_limits<double>::quiet_NaN()));
    }
  }
  return table;
}

void expect_rows(const TuTable& table, int64_t rows, const char* of) {
  if (table.rows != 0 && table.rows != rows)
    throw data_error(fmt::format("{}: {} rows for {} {}", table.path, table.rows, rows, of));
}

// Each column's different numbers, ascending, become 0, 1, 2, ... `picked`: the rows that are wanted.
Codes codes_of(const TuTable& table, const std::vector<int64_t>& picked) {
  Codes codes{table.columns, std::vector<int16_t>(picked.size() * table.columns)};
  for (int64_t c = 0; c < table.columns; ++c) {
    std::map<double, int16_t> places;
    for (int64_t row = 0; row < table.rows; ++row) {
      if (std::isnan(table.at(row, c)))
        throw data_error(fmt::format("{}: row {}: a label is missing", table.path, row + 1));
      places.emplace(table.at(row, c), int16_t{0});
    }
    if (places.size() > INT16_MAX)
      throw data_error(
          fmt::format("{}: column {}: {} different labels are too many", table.path, c + 1, places.size()));
    int16_t next = 0;
    for (auto& [value, place] : places) place = next++;
    for (size_t i = 0; i < picked.size(); ++i) codes.values[i * table.columns + c] = places.at(table.at(picked[i], c));
  }
  return codes;
}

std::vector<int64_t> all_rows(int64_t count) {
  std::vector<int64_t> rows(count);
  for (int64_t i = 0; i < count; ++i) rows[i] = i;
  return rows;
}

// NAME_A.txt and NAME_graph_indicator.txt. Numbers of nodes are 0-based here.
struct TuGraphs {
  std::vector<int64_t> node_offsets;  // [G+1]
  std::vector<Edge> edges;            // as they are listed

  int64_t num_nodes() const { return node_offsets.back(); }
  int64_t num_graphs() const { return static_cast<int64_t>(node_offsets.size()) - 1; }
};

TuGraphs read_structure(const std::string& stem, Threads threads) {
  const TuTable indicator = read_table(stem, "graph_indicator");
  TuGraphs graphs;
  graphs.node_offsets = {0};
  for (int64_t node = 0; node < indicator.rows; ++node) {
    const double number = indicator.at(node, 0);
    const bool same = number == static_cast<double>(graphs.num_graphs());
    if (!same && number != static_cast<double>(graphs.num_graphs() + 1)) {
      throw data_error(fmt::format(
          "{}: node {} is in graph {}, expected graph {} or {}: nodes of a graph must stand together, graphs in order",
          indicator.path, node + 1, number, graphs.num_graphs(), graphs.num_graphs() + 1));
    }
    if (same && node > 0) {
      ++graphs.node_offsets.back();
    } else if (!same) {
      graphs.node_offsets.push_back(node + 1);
    } else {
      throw data_error(fmt::format("{}: graphs are numbered from 1", indicator.path));
    }
  }
  if (!indicator.path.empty() && indicator.rows == 0)
    throw data_error(fmt::format("{}: holds no nodes", indicator.path));
  int64_t nodes = indicator.path.empty() ? -1 : indicator.rows;
  for (const char* what : {"node_labels", "node_attributes"}) {  // of one graph, which needs no indicator
    if (nodes <= 0) nodes = read_table(stem, what).rows;
  }
  const EdgeBlocks blocks = read_edge_lines(existing_gz(stem + std::string(kEdgeFile)), {',', 2, 1, 1, nodes}, threads);
  if (indicator.path.empty()) graphs.node_offsets.push_back(nodes);
  for (const auto& block : blocks) graphs.edges.insert(graphs.edges.end(), block.begin(), block.end());
  return graphs;
}

// Graph labels as targets: 0 and 1 of two classes, a task for each of more.
void add_class_targets(const TuTable& labels, GraphSetParts& parts, std::vector<std::string>& notes) {
  std::map<double, int64_t> classes;
  for (const double value : labels.values) {
    if (!std::isnan(value)) classes.emplace(value, 0);
  }
  std::vector<double> values;
  for (auto& [value, place] : classes) {
    place = static_cast<int64_t>(values.size());
    values.push_back(value);
  }
  constexpr size_t kMostClasses = 1000;
  if (labels.columns != 1 || values.size() > kMostClasses)
    throw data_error(fmt::format("{}: {} columns with {} different labels, expected one column of classes", labels.path,
                                 labels.columns, values.size()));
  const bool binary = values.size() <= 2;
  const size_t tasks = binary ? 1 : values.size();
  for (size_t t = 0; t < tasks; ++t) parts.task_names.push_back(binary ? "class" : fmt::format("class_{}", values[t]));
  for (const double value : labels.values) {
    for (size_t t = 0; t < tasks; ++t) {
      const double hit = binary ? static_cast<double>(classes[value]) : static_cast<double>(value == values[t]);
      parts.targets.push_back(std::isnan(value) ? value : hit);
    }
  }
  if (binary && values.size() == 2 && (values[0] != 0 || values[1] != 1))
    notes.push_back(fmt::format("{}: graph label {} is target 0, {} is 1", labels.path, values[0], values[1]));
  if (!binary)
    notes.push_back(fmt::format("{}: {} classes of graphs are {} tasks of 0 and 1: {}", labels.path, tasks, tasks,
                                fmt::join(parts.task_names, ", ")));
}

void add_targets(const std::string& stem, GraphSetParts& parts, std::vector<std::string>& notes) {
  const TuTable labels = read_table(stem, "graph_labels"), values = read_table(stem, "graph_attributes");
  expect_rows(labels, parts.num_graphs, "graphs");
  expect_rows(values, parts.num_graphs, "graphs");
  if (labels.rows > 0) {
    add_class_targets(labels, parts, notes);
    if (values.rows > 0) notes.push_back(fmt::format("{}: not read, since graphs have labels", values.path));
  } else if (values.rows > 0) {
    parts.targets = values.values;
    for (int64_t t = 0; t < values.columns; ++t) parts.task_names.push_back(fmt::format("target_{}", t));
  }
}

// Edges once each, local to their graph, graph by graph. `picked` receives the row of NAME_A.txt each one comes from.
void add_edges(const std::string& stem, const TuGraphs& graphs, const TuTable& edge_labels, GraphSetParts& parts,
               std::vector<int64_t>& picked, std::vector<std::string>& notes) {
  const int64_t num_graphs = graphs.num_graphs();
  std::vector<int32_t> graph_of(graphs.num_nodes());
  for (int64_t g = 0; g < num_graphs; ++g)
    std::fill(graph_of.begin() + graphs.node_offsets[g], graph_of.begin() + graphs.node_offsets[g + 1],
              static_cast<int32_t>(g));
  std::unordered_map<uint64_t, int64_t> first_row;  // of a pair
  std::vector<std::vector<int64_t>> rows(num_graphs);
  int64_t loops = 0, different = 0;
  for (int64_t row = 0; row < static_cast<int64_t>(graphs.edges.size()); ++row) {
    const auto [a, b] = graphs.edges[row];
    if (graph_of[a] != graph_of[b])
      throw data_error(fmt::format("{}{}:{}: joins node {} of graph {} with node {} of graph {}", stem, kEdgeFile,
                                   row + 1, a + 1, graph_of[a] + 1, b + 1, graph_of[b] + 1));
    if (a == b) {
      ++loops;
      continue;
    }
    const uint64_t pair = static_cast<uint64_t>(std::min(a, b)) << 32 | static_cast<uint32_t>(std::max(a, b));
    const auto [found, is_new] = first_row.emplace(pair, row);
    if (is_new) {
      rows[graph_of[a]].push_back(row);
    } else {
      for (int64_t c = 0; c < edge_labels.columns; ++c)
        different += edge_labels.at(row, c) != edge_labels.at(found->second, c);
    }
  }
  parts.edge_offsets = {0};
  for (int64_t g = 0; g < num_graphs; ++g) {
    const auto first = static_cast<int32_t>(graphs.node_offsets[g]);
    for (const int64_t row : rows[g]) {
      const auto [a, b] = graphs.edges[row];
      parts.edges.push_back({std::min(a, b) - first, std::max(a, b) - first});
      picked.push_back(row);
    }
    parts.edge_offsets.push_back(static_cast<int64_t>(parts.edges.size()));
  }
  if (loops > 0) notes.push_back(fmt::format("{}{}: {} self loops are left out", stem, kEdgeFile, grouped(loops)));
  if (different > 0)
    notes.push_back(
        fmt::format("{}_edge_labels.txt: {} repeated edges have another label than the first time, which counts", stem,
                    grouped(different)));
}

GraphParts one_graph(const std::string& stem, TuGraphs graphs, std::vector<std::string>& notes) {
  GraphParts parts;
  parts.num_nodes = graphs.num_nodes();
  Buffer<Edge> edges;
  for (const Edge& edge : graphs.edges) edges.push_back(edge);
  parts.edges.push_back(std::move(edges));
  const TuTable labels = read_table(stem, "node_labels"), attributes = read_table(stem, "node_attributes");
  expect_rows(labels, parts.num_nodes, "nodes");
  expect_rows(attributes, parts.num_nodes, "nodes");
  if (labels.rows > 0) {
    if (labels.columns != 1)
      throw data_error(fmt::format("{}: {} columns, expected one label per node", labels.path, labels.columns));
    for (int64_t node = 0; node < labels.rows; ++node) {
      const double value = labels.at(node, 0);
      const bool missing = std::isnan(value);
      if (!missing && (value != std::floor(value) || value < -1 || value >= INT32_MAX))
        throw data_error(fmt::format("{}:{}: {} is not a class", labels.path, node + 1, value));
      parts.labels.push_back(missing ? kUnlabelled : static_cast<int32_t>(value));
    }
  }
  if (attributes.rows > 0) {
    Buffer<float> values;
    for (const double value : attributes.values) values.push_back(static_cast<float>(value));
    parts.features = naming(attributes.path,
                            [&] { return Features::compact(attributes.rows, attributes.columns, std::move(values)); });
  }
  notes.push_back(fmt::format("{}: one graph; labels of nodes are classes, attributes of nodes are features", stem));
  return parts;
}

}  // namespace

bool is_tu(const std::string& directory) { return !tu_stem(directory).empty(); }

TuContent read_tu(const std::string& directory, std::vector<std::string>& notes, Threads threads) {
  const std::string stem = tu_stem(directory);
  TuGraphs graphs = read_structure(stem, threads);
  TuContent content;
  if (graphs.num_graphs() == 1) {
    content.graph = one_graph(stem, std::move(graphs), notes);
    return content;
  }
  GraphSetParts& parts = content.graphs.parts;
  parts.num_graphs = graphs.num_graphs();
  parts.node_offsets = graphs.node_offsets;
  const TuTable node_labels = read_table(stem, "node_labels"), edge_labels = read_table(stem, "edge_labels");
  expect_rows(node_labels, graphs.num_nodes(), "nodes");
  expect_rows(edge_labels, static_cast<int64_t>(graphs.edges.size()), "edges");
  std::vector<int64_t> picked;
  add_edges(stem, graphs, edge_labels, parts, picked, notes);
  if (node_labels.rows > 0) parts.node_codes = codes_of(node_labels, all_rows(node_labels.rows));
  if (edge_labels.rows > 0) parts.edge_codes = codes_of(edge_labels, picked);
  add_targets(stem, parts, notes);
  for (const char* what : {"node_attributes", "edge_attributes"}) {
    if (const std::string path = existing_gz(fmt::format("{}_{}.txt", stem, what)); !path.empty())
      notes.push_back(fmt::format("{}: attributes of sets of graphs are not read yet", path));
  }
  content.graphs.source.file = stem;
  return content;
}

}  // namespace graphpae
