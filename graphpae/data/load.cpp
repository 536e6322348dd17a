#include "graphpae/data/load.h"

#include <fmt/format.h>

#include <filesystem>

#include "graphpae/core/error.h"
#include "graphpae/data/directory_form.h"
#include "graphpae/data/geom_gcn.h"
#include "graphpae/data/mat_file.h"
#include "graphpae/data/matrix_market.h"
#include "graphpae/data/molecules.h"
#include "graphpae/data/node_table.h"
#include "graphpae/data/npz_graph.h"
#include "graphpae/data/ogb.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;

GraphParts from_edge_list(const std::string& path, const LoadOptions& options, std::vector<std::string>& notes) {
  EdgeList list = read_edge_list(path, {options.ids, -1, options.threads});
  notes.insert(notes.end(), list.notes.begin(), list.notes.end());
  GraphParts parts;
  parts.num_nodes = list.num_nodes;
  parts.edges = std::move(list.blocks);
  parts.node_names = std::move(list.names);
  return parts;
}

// Features, labels and splits given beside the data. Nodes without edges are known only through them.
void add_files(const LoadOptions& options, GraphParts& parts) {
  const bool named = !parts.node_names.empty();
  const auto grow = [&](int64_t count, const std::string& path, const char* what) {
    if (named ? count != parts.num_nodes : count < parts.num_nodes) {
      throw data_error(fmt::format("{}: {} {} for {} nodes", path, count, what, parts.num_nodes));
    }
    parts.num_nodes = count;
  };
  const NodeIndex index(parts.node_names, named ? parts.num_nodes : kMaxNodes);
  if (!options.features.empty()) {
    parts.features = read_features(options.features, &index, named ? parts.num_nodes : -1);
    grow(parts.features.rows(), options.features, "feature rows");
  }
  if (!options.labels.empty()) {
    Labels labels = read_labels(options.labels, &index, named || parts.features.rows() > 0 ? parts.num_nodes : -1);
    grow(static_cast<int64_t>(labels.values.size()), options.labels, "labels");
    parts.labels = std::move(labels.values);
    parts.class_names = std::move(labels.class_names);
  }
  if (!options.splits.empty()) parts.splits = read_splits(options.splits, parts.num_nodes);
}

Dataset finish(const std::string& path, const char* form, GraphParts parts, std::vector<std::string> notes,
               const LoadOptions& options) {
  add_files(options, parts);
  return naming(path, [&] {
    return Dataset{Graph(std::move(parts), options.edges, options.threads), form, std::move(notes)};
  });
}

Dataset finish(const std::string& path, const char* form, GraphSetParts parts, std::vector<std::string> notes) {
  return naming(path, [&] { return Dataset{GraphSet(std::move(parts)), form, std::move(notes)}; });
}

Dataset load_directory(const std::string& path, const LoadOptions& options) {
  std::vector<std::string> notes;
  if (is_molecule_directory(path)) {
    GraphSetParts parts = read_molecule_directory(path, notes);
    return finish(path, "molecule directory", std::move(parts), std::move(notes));
  }
  if (is_graph_directory(path)) {
    GraphParts parts = read_graph_directory(path, notes, options.threads);
    return finish(path, "graph directory", std::move(parts), std::move(notes), options);
  }
  if (is_geom_gcn(path)) return finish(path, "Geom-GCN directory", read_geom_gcn(path, options.threads), {}, options);
  if (is_ogb(path)) {
    if (is_ogb_node_level(path)) {
      return finish(path, "OGB directory", read_ogb_nodes(path, options.year_classes, options.threads), {}, options);
    }
    GraphSetParts parts = read_ogb_graphs(path, notes, options.threads);
    return finish(path, "OGB directory", std::move(parts), std::move(notes));
  }
  throw data_error(
      fmt::format("{}: no edges.csv, molecules.csv, out1_graph_edges.txt or raw/edge.csv in this directory", path));
}

}  // namespace

Dataset load(const std::string& path, const LoadOptions& options) {
  if (!fs::exists(path)) throw data_error(fmt::format("{}: no such file or directory", path));
  if (fs::is_directory(path)) return load_directory(path, options);

  std::vector<std::string> notes;
  const std::string name = without_gz(path);
  const MoleculeOptions molecule_options{options.smiles_column, options.tasks, false};
  if (ends_with(name, ".smi") || ends_with(name, ".sdf")) {
    GraphSetParts parts = read_molecules(path, molecule_options, notes);
    return finish(path, ends_with(name, ".smi") ? "SMILES file" : "SD file", std::move(parts), std::move(notes));
  }
  if (ends_with(name, ".npz")) return finish(path, "NumPy archive", read_npz_graph(path), {}, options);
  if (ends_with(name, ".mat")) return finish(path, "MATLAB file", read_mat(path), {}, options);
  if (ends_with(name, ".mtx"))
    return finish(path, "MatrixMarket file", read_matrix_market(path, options.threads), {}, options);
  if (ends_with(name, ".csv") || ends_with(name, ".tsv") || ends_with(name, ".txt") || ends_with(name, ".edges") ||
      ends_with(name, ".edgelist")) {
    const bool wants_molecules = !options.smiles_column.empty() || !options.tasks.empty();
    if (wants_molecules || has_smiles_column(path, "")) {
      GraphSetParts parts = read_molecules(path, molecule_options, notes);
      return finish(path, "SMILES table", std::move(parts), std::move(notes));
    }
    GraphParts parts = from_edge_list(path, options, notes);
    return finish(path, "edge list", std::move(parts), std::move(notes), options);
  }
  throw data_error(
      fmt::format("{}: unknown kind of file (expected .csv .tsv .txt .npz .mat .mtx .smi .sdf or a directory)", path));
}

}  // namespace graphpae
