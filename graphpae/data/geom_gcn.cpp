#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "graphpae/core/error.h"
#include "graphpae/data/edge_list.h"
#include "graphpae/data/graph_readers.h"
#include "graphpae/data/node_table.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;

struct NodeLines {
  std::vector<int32_t> row, number;  // every listed number with its node, in file order
  std::vector<int64_t> lengths;      // [N] how many numbers each node lists
  std::vector<int32_t> labels;       // [N]
};

NodeLines read_nodes(const std::string& path) {
  LineReader reader(path);
  std::string_view line;
  std::vector<std::string> fields;
  NodeLines nodes;
  std::map<int64_t, int64_t> first_seen;  // node -> line
  while (reader.next(line)) {
    if (reader.line_number() == 1 || trim(line).empty()) continue;  // the header
    split_fields(line, '\t', fields);
    if (fields.size() != 3)
      throw reader.error(fmt::format("{} columns, expected node_id, feature, label", fields.size()));
    const int64_t node = parse_int(fields[0]).value_or(-1);
    if (node < 0 || node >= kMaxNodes - 1)
      throw reader.error(fmt::format("'{}' is not a node number", fields[0].substr(0, 40)));
    if (node > 64 * reader.line_number() + 1'000'000) throw reader.error(fmt::format("node {} is too large", node));
    if (!first_seen.emplace(node, reader.line_number()).second)
      throw reader.error(fmt::format("a second line for node {}", node));
    const auto label = parse_int(fields[2]);
    if (!label || *label < kUnlabelled || *label > INT32_MAX)
      throw reader.error(fmt::format("'{}' is not a class", fields[2].substr(0, 40)));
    if (node >= static_cast<int64_t>(nodes.labels.size())) {
      nodes.labels.resize(node + 1, kUnlabelled);
      nodes.lengths.resize(node + 1, 0);
    }
    nodes.labels[node] = static_cast<int32_t>(*label);
    std::string_view list = trim(fields[1]);
    while (!list.empty()) {
      const size_t comma = std::min(list.find(','), list.size());
      const auto number = parse_int(list.substr(0, comma));
      if (!number || *number < 0 || *number > INT32_MAX - 1) {
        throw reader.error(fmt::format("'{}' is not a feature", list.substr(0, std::min<size_t>(comma, 40))));
      }
      nodes.row.push_back(static_cast<int32_t>(node));
      nodes.number.push_back(static_cast<int32_t>(*number));
      ++nodes.lengths[node];
      list.remove_prefix(std::min(comma + 1, list.size()));
    }
  }
  for (size_t node = 0; node < nodes.labels.size(); ++node) {
    if (!first_seen.contains(static_cast<int64_t>(node)))
      throw data_error(fmt::format("{}: no line for node {}", path, node));
  }
  return nodes;
}

// Most sets write every feature as 0 or 1; the film set writes the numbers of the features that are 1.
Features features_of(const NodeLines& nodes) {
  const int64_t n = static_cast<int64_t>(nodes.labels.size());
  const bool equal_lengths =
      std::adjacent_find(nodes.lengths.begin(), nodes.lengths.end(), std::not_equal_to<>()) == nodes.lengths.end();
  const bool bits =
      equal_lengths && std::all_of(nodes.number.begin(), nodes.number.end(), [](int32_t x) { return x <= 1; });
  std::vector<int32_t> row, column;
  int64_t columns = bits && n > 0 ? nodes.lengths[0] : 0;
  for (size_t i = 0; i < nodes.number.size(); ++i) {
    if (bits && nodes.number[i] == 0) continue;
    row.push_back(nodes.row[i]);
    column.push_back(bits ? static_cast<int32_t>(i % columns) : nodes.number[i]);
    columns = std::max<int64_t>(columns, column.back() + 1);
  }
  const std::vector<float> ones(row.size(), 1.0f);
  SparseMatrix matrix = rows_from_triples(n, columns, row, column, ones);
  // A feature listed twice is still 1.
  for (int64_t r = 0; r < n; ++r) {
    auto begin = matrix.indices.begin() + matrix.offsets[r], end = matrix.indices.begin() + matrix.offsets[r + 1];
    std::sort(begin, end);
    for (auto at = begin; at != end; ++at) {
      if (at != begin && *at == *(at - 1)) matrix.values[at - matrix.indices.begin()] = 0;
    }
  }
  return sparse_features(std::move(matrix));
}

// By the number of the split.
std::map<int64_t, std::string> split_files(const std::string& directory) {
  std::map<int64_t, std::string> numbered;
  for (const fs::path& place : {fs::path(directory), fs::path(directory) / "splits"}) {
    if (!fs::is_directory(place)) continue;
    for (const auto& entry : fs::directory_iterator(place)) {
      const std::string name = entry.path().filename().string();
      const size_t dash = name.rfind('_');
      if (name.find("_split_") == std::string::npos || !name.ends_with(".npz") || dash == std::string::npos) continue;
      const auto number = parse_int(name.substr(dash + 1, name.size() - 4 - dash - 1));
      if (number) numbered[*number] = entry.path().string();
    }
  }
  return numbered;
}

}  // namespace

bool is_geom_gcn(const std::string& directory) { return fs::exists(fs::path(directory) / "out1_graph_edges.txt"); }

GraphParts read_geom_gcn(const std::string& directory, Threads threads) {
  const NodeLines nodes = read_nodes((fs::path(directory) / "out1_node_feature_label.txt").string());
  GraphParts parts;
  parts.num_nodes = static_cast<int64_t>(nodes.labels.size());
  parts.features = features_of(nodes);
  parts.labels = nodes.labels;
  EdgeListOptions options{NodeIds::numbers, parts.num_nodes, threads};
  parts.edges = read_edge_list((fs::path(directory) / "out1_graph_edges.txt").string(), options).blocks;
  for (const auto& [number, file] : split_files(directory))
    parts.splits.push_back(read_splits(file, parts.num_nodes).front());
  return parts;
}

}  // namespace graphpae
