#include "graphpae/data/directory_form.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <initializer_list>
#include <iterator>
#include <optional>
#include <span>
#include <string_view>

#include "graphpae/core/error.h"
#include "graphpae/data/edge_list.h"
#include "graphpae/data/molecules.h"
#include "graphpae/data/node_table.h"
#include "graphpae/data/target_column.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/npy.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;

const std::vector<std::string> kOwnedFiles = {
    "edges.csv",         "edges.csv.gz",       "features.npz",    "features.csv",       "features.csv.gz",
    "labels.npy",        "labels.csv",         "labels.csv.gz",   "classes.csv",        "splits.npz",
    "nodes.csv",         "nodes.csv.gz",       "molecules.csv",   "molecules.csv.gz",   "graphs.npz",
    "split/train.csv",   "split/train.csv.gz", "split/valid.csv", "split/valid.csv.gz", "split/test.csv",
    "split/test.csv.gz", "targets.csv",        "targets.csv.gz"};

std::string find_file(const std::string& directory, std::initializer_list<const char*> names) {
  for (const char* name : names) {
    const std::string path = existing_gz(directory + "/" + name);
    if (!path.empty()) return path;
  }
  return "";
}

constexpr std::string_view kDirected = "# directed";

bool says_directed(const std::string& edges) {
  LineReader reader(edges);
  std::string_view line;
  return reader.next(line) && trim(line) == kDirected;
}

// The edges as directory form: undirected ones once.
std::string edges_text(const Graph& graph) {
  const bool weighted = graph.adjacency().has_weights();
  std::string text = graph.is_directed() ? fmt::format("{}\n", kDirected) : "";
  text += weighted ? "src,dst,weight\n" : "src,dst\n";
  const auto add = [&](int64_t u, int32_t v, std::span<const float> weights, size_t at) {
    fmt::format_to(std::back_inserter(text), "{},{}", u, v);
    if (!weights.empty()) fmt::format_to(std::back_inserter(text), ",{}", weights[at]);
    text += '\n';
  };
  for (int64_t u = 0; u < graph.num_nodes(); ++u) {
    if (graph.is_directed()) {
      const DirectedEdges& edges = graph.directed_edges();
      for (int64_t e = edges.offsets()[u]; e < edges.offsets()[u + 1]; ++e)
        add(u, edges.targets()[e], edges.weights(), static_cast<size_t>(e));
      continue;
    }
    const auto row = graph.adjacency().row(u);
    for (size_t e = 0; e < row.size(); ++e) {
      if (row[e] >= u) add(u, row[e], weighted ? graph.adjacency().row_weights(u) : std::span<const float>(), e);
    }
  }
  return text;
}

// The one column of a text file below its header.
TextColumn read_column(const std::string& path) {
  LineReader reader(path);
  std::string_view line;
  std::vector<std::string> fields;
  TextColumn column;
  while (reader.next(line)) {
    if (reader.line_number() == 1) continue;
    if (!split_fields(line, ',', fields) || fields.size() != 1) throw reader.error("expected one column");
    column.push_back(fields[0]);
  }
  return column;
}

std::string column_text(const char* header, const TextColumn& column) {
  std::string text = std::string(header) + "\n";
  for (int64_t i = 0; i < column.size(); ++i) text += table_field(column[i], ',') + "\n";
  return text;
}

void write_features(const std::string& path, const Features& features, const std::vector<std::string>& names) {
  std::vector<ZipEntry> entries;
  if (features.is_sparse()) {
    const int64_t shape[] = {features.rows(), features.columns()};
    entries = {npy_entry("data", features.values()), npy_entry("indices", features.indices()),
               npy_entry("indptr", features.offsets()), npy_entry("shape", std::span<const int64_t>(shape))};
  } else {
    entries = {npy_entry("features", features.dense_values(), {features.rows(), features.columns()})};
  }
  if (!names.empty()) {
    const std::vector<std::string_view> texts(names.begin(), names.end());
    entries.push_back({"columns.npy", npy_text_bytes(texts)});
  }
  write_zip(path, entries);
}

}  // namespace

bool is_graph_directory(const std::string& directory) { return !find_file(directory, {"edges.csv"}).empty(); }
bool is_molecule_directory(const std::string& directory) { return !find_file(directory, {"molecules.csv"}).empty(); }

bool is_graph_set_directory(const std::string& directory) {
  return !is_graph_directory(directory) && !is_molecule_directory(directory) && fs::exists(directory + "/graphs.npz");
}

GraphParts read_graph_directory(const std::string& directory, std::vector<std::string>& notes, Threads threads,
                                std::vector<ColumnUse>* columns) {
  GraphParts parts;
  int64_t num_nodes = -1;
  std::string counted_by;
  const auto agree = [&](int64_t count, const std::string& path, const char* what) {
    if (num_nodes >= 0 && count != num_nodes) {
      throw data_error(fmt::format("{}: {} {} for {} nodes (counted by {})", path, count, what, num_nodes, counted_by));
    }
    num_nodes = count;
    counted_by = file_name(path);
  };
  TextColumn nodes;
  if (const std::string path = find_file(directory, {"nodes.csv"}); !path.empty()) {
    nodes = read_column(path);
    agree(nodes.size(), path, "names");
  }
  const NodeIndex index(nodes, nodes.empty() ? kMaxNodes : nodes.size());
  const auto use = [&](const ColumnUse& found) {
    if (columns != nullptr && !found.file.empty()) columns->push_back(found);
  };
  if (const std::string path = find_file(directory, {"features.npz", "features.npy", "features.csv"}); !path.empty()) {
    FeatureTable table = read_feature_table(path, &index);
    parts.features = std::move(table.values);
    parts.feature_names = std::move(table.names);
    use(table.columns);
    agree(parts.features.rows(), path, "feature rows");
  }
  if (const std::string path = find_file(directory, {"labels.npy", "labels.csv"}); !path.empty()) {
    Labels labels = read_labels(path, &index);
    use(labels.columns);
    agree(static_cast<int64_t>(labels.values.size()), path, "labels");
    parts.labels = std::move(labels.values);
    parts.class_names = std::move(labels.class_names);
  }
  if (const std::string path = find_file(directory, {"classes.csv"}); !path.empty()) {
    const TextColumn names = read_column(path);
    for (int64_t i = 0; i < names.size(); ++i) parts.class_names.emplace_back(names[i]);
  }
  const std::string edges = find_file(directory, {"edges.csv"});
  EdgeList list = read_edge_list(edges, {NodeIds::numbers, num_nodes, threads});
  notes.insert(notes.end(), list.notes.begin(), list.notes.end());
  use(list.columns);
  parts.edges = std::move(list.blocks);
  parts.weights = std::move(list.weights);
  parts.directed = says_directed(edges);
  parts.num_nodes = list.num_nodes;
  if (parts.num_nodes == 0)
    throw data_error(fmt::format("{}: the graph is empty (no edges, features or labels)", edges));
  if (const std::string path = find_file(directory, {"splits.npz"}); !path.empty())
    parts.splits = read_splits(path, parts.num_nodes);
  bool numbered = true;  // names 0, 1, 2, ... only count the nodes
  for (int64_t i = 0; i < nodes.size() && numbered; ++i) numbered = parse_int(nodes[i]) == i;
  if (!numbered) parts.node_names = std::move(nodes);
  return parts;
}

MoleculeRows read_molecule_directory(const std::string& directory, MoleculeOptions options,
                                     std::vector<std::string>& notes) {
  options.all_columns = true;
  MoleculeRows rows = read_molecules(find_file(directory, {"molecules.csv"}), options, notes);
  GraphSetParts& parts = rows.parts;
  parts.splits = read_molecule_split(directory + "/split");
  naming(directory + "/split", [&] { return check_splits(parts.splits, parts.num_graphs), 0; });
  if (fs::exists(directory + "/graphs.npz")) read_molecule_graphs(directory + "/graphs.npz", parts);
  return rows;
}

MoleculeRows read_graph_set_directory(const std::string& directory) {
  MoleculeRows rows;
  GraphSetParts& parts = rows.parts;
  const std::string path = directory + "/graphs.npz";
  rows.source.file = path;
  parts.num_graphs = NpzFile(path).read("num_nodes").count();
  read_molecule_graphs(path, parts);
  if (const std::string table = find_file(directory, {"targets.csv"}); !table.empty()) {
    LineReader reader(table);
    std::string_view line;
    std::vector<std::string> fields;
    for (int64_t row = -1; reader.next(line); ++row) {
      if (!split_fields(line, ',', fields)) throw reader.error("a quote is not closed");
      if (row == -1) {
        parts.task_names = fields;
        continue;
      }
      if (fields.size() != parts.task_names.size())
        throw reader.error(fmt::format("{} columns, expected {}", fields.size(), parts.task_names.size()));
      for (const std::string& field : fields) {
        const std::optional<double> value = parse_target(field);
        if (!value) throw reader.error(fmt::format("'{}' is not a number", field.substr(0, 40)));
        parts.targets.push_back(*value);
      }
    }
    if (parts.targets.size() != parts.num_graphs * parts.task_names.size())
      throw data_error(fmt::format("{}: {} rows for {} graphs", table,
                                   parts.targets.size() / std::max<size_t>(1, parts.task_names.size()),
                                   parts.num_graphs));
  }
  parts.splits = read_molecule_split(directory + "/split");
  return rows;
}

void write_directory(const std::string& directory, const Graph& graph, bool force) {
  AtomicDirectory target(directory, force, kOwnedFiles);
  const std::string& root = target.staging_path();
  write_file(root + "/edges.csv.gz", gzip_bytes(edges_text(graph)));
  if (graph.features().columns() > 0) write_features(root + "/features.npz", graph.features(), graph.feature_names());
  if (!graph.labels().empty()) {
    const std::vector<int64_t> wide(graph.labels().begin(), graph.labels().end());
    write_file(root + "/labels.npy", npy_bytes<int64_t>(wide, {graph.num_nodes()}));
  }
  if (!graph.class_names().empty()) {
    TextColumn names;
    for (const std::string& name : graph.class_names()) names.push_back(name);
    write_file(root + "/classes.csv", column_text("class", names));
  }
  if (!graph.splits().empty()) write_splits(root + "/splits.npz", graph.splits());
  if (!graph.node_names().empty()) {
    write_file(root + "/nodes.csv.gz", gzip_bytes(column_text("node", graph.node_names())));
  } else if (graph.labels().empty() && graph.features().columns() == 0) {
    TextColumn numbers;
    for (int64_t i = 0; i < graph.num_nodes(); ++i) numbers.push_back(std::to_string(i));
    write_file(root + "/nodes.csv.gz", gzip_bytes(column_text("node", numbers)));
  }
  target.commit();
}

namespace {

// smiles,<task>,... or, of graphs that are no molecules, <task>,...
std::string set_table(const GraphSet& set) {
  const GraphSetParts& parts = set.parts();
  const bool texts = !parts.texts.empty();
  std::string table = texts ? "smiles" : "";
  for (int64_t t = 0; t < set.num_tasks(); ++t)
    table += (t > 0 || texts ? "," : "") + table_field(parts.task_names[t], ',');
  table += '\n';
  for (int64_t g = 0; g < parts.num_graphs; ++g) {
    if (texts && parts.texts[g].find('\n') != std::string_view::npos) {
      throw data_error(fmt::format("molecule {} is a structure block, not SMILES: the directory form keeps SMILES", g));
    }
    // Not a blank line, which would be no row.
    if (texts) table += parts.texts[g].empty() ? "\"\"" : table_field(parts.texts[g], ',');
    for (int64_t t = 0; t < set.num_tasks(); ++t) {
      if (t > 0 || texts) table += ',';
      const double value = parts.targets[g * set.num_tasks() + t];
      if (!std::isnan(value)) {
        fmt::format_to(std::back_inserter(table), "{}", value);
      } else if (!texts) {
        table += "nan";
      }
    }
    table += '\n';
  }
  return table;
}

}  // namespace

void write_directory(const std::string& directory, const GraphSet& set, bool force) {
  const GraphSetParts& parts = set.parts();
  if (parts.texts.empty() && !set.has_structure()) throw data_error("there are neither SMILES nor graphs to write");
  AtomicDirectory target(directory, force, kOwnedFiles);
  const std::string& root = target.staging_path();
  const std::string table = set_table(set);
  if (!parts.texts.empty()) write_file(root + "/molecules.csv.gz", gzip_bytes(table));
  if (parts.texts.empty() && set.num_tasks() > 0) write_file(root + "/targets.csv.gz", gzip_bytes(table));
  if (!parts.splits.empty()) {
    fs::create_directory(root + "/split");
    const auto write_ids = [&](const char* name, const std::vector<int32_t>& ids) {
      std::string text;
      for (const int32_t id : ids) fmt::format_to(std::back_inserter(text), "{}\n", id);
      write_file(fmt::format("{}/split/{}.csv.gz", root, name), gzip_bytes(text));
    };
    write_ids("train", parts.splits[0].train);
    write_ids("valid", parts.splits[0].val);
    write_ids("test", parts.splits[0].test);
  }
  if (set.has_structure()) write_molecule_graphs(root + "/graphs.npz", parts);
  target.commit();
}

}  // namespace graphpae
