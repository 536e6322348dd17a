// Readers of published forms, one source file each; data/load.cpp recognises them.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/data/molecules.h"

namespace graphpae {

// Geom-GCN text directories: out1_graph_edges.txt, out1_node_feature_label.txt, and split files
// *_split_0.6_0.2_<i>.npz with masks, beside them or in splits/.
bool is_geom_gcn(const std::string& directory);
GraphParts read_geom_gcn(const std::string& directory, Threads threads);

// MATLAB .mat files, two kinds:
//  * facebook100: sparse `A` and `local_info` [N,7] (status, gender, major, second major, dorm, year, high
//    school; 0 = missing). Labels are gender - 1, 0 becoming unlabelled; features are the one-hot codes of the
//    other six columns, each with its values in ascending order.
//  * attributed networks: `Network`, `Attributes`, `Label` (1-based classes), in any case, also `Class`.
GraphParts read_mat(const std::string& path);

// MatrixMarket coordinate files (.mtx[.gz]): a square sparse matrix whose entries are edges.
GraphParts read_matrix_market(const std::string& path, Threads threads);

// Graphs in one .npz file: a SciPy sparse adjacency matrix, or named arrays as several collections
// publish them: edges|edge_index, features|node_features|x, labels|node_labels|y|target, train_masks, ...;
// or adj_data, adj_indices, ... with attr_data, ... and labels.
GraphParts read_npz_graph(const std::string& path);

// TU text directories: NAME_A.txt, NAME_graph_indicator.txt, NAME_graph_labels.txt, NAME_node_labels.txt, ... in the
// directory or in raw/. Many graphs, whose labels of nodes and edges are codes and whose own labels are targets; or one
// graph, whose labels of nodes are classes and whose attributes of nodes are features.
struct TuContent {
  std::optional<GraphParts> graph;
  MoleculeRows graphs;  // without texts; if there is not one graph
};
bool is_tu(const std::string& directory);
TuContent read_tu(const std::string& directory, std::vector<std::string>& notes, Threads threads);

// Forms with attributes; what becomes of them is said in `notes` (data/attributes.h).
GraphParts read_graphml(const std::string& path, std::vector<std::string>& notes);
GraphParts read_gexf(const std::string& path, std::vector<std::string>& notes);
GraphParts read_gml(const std::string& path, std::vector<std::string>& notes);
GraphParts read_pajek(const std::string& path, std::vector<std::string>& notes);
// Node-link JSON as NetworkX and D3 have it: an object with `nodes` and `links` or `edges`; also those of Cytoscape,
// Graphology and the JSON Graph Format, which are alike.
GraphParts read_node_link_json(const std::string& path, std::vector<std::string>& notes);

// A text file that is an adjacency matrix: as many rows as columns, all numbers, with names of rows and columns or
// without. Nothing if it is not one.
std::optional<GraphParts> read_adjacency_table(const std::string& path);
// .npy: a square adjacency matrix, or edges [E,2] or [2,E].
GraphParts read_npy_graph(const std::string& path, std::vector<std::string>& notes);

// A file in one of these forms or another that only one graph has, by its suffix and first bytes; nothing for any
// other. Throws a data error that says how to convert it for forms that are not read (Parquet, Excel, pickles, ...).
struct GraphFile {
  const char* form;
  GraphParts parts;
};
std::optional<GraphFile> read_graph_file(const std::string& path, std::vector<std::string>& notes);

// OGB csv directories as they are published: raw/edge.csv.gz, raw/num-node-list.csv.gz, ... with
// split/<name>/{train,valid,test}.csv.gz; one graph with node labels, or many graphs with graph labels.
bool is_ogb(const std::string& directory);
bool is_ogb_node_level(const std::string& directory);
// `year_classes` > 0 replaces the labels by that many equally filled ranges of raw/node_year.csv.gz (the
// arXiv-year task).
GraphParts read_ogb_nodes(const std::string& directory, int64_t year_classes, Threads threads);
// With the texts of mapping/mol.csv.gz if it is there.
MoleculeRows read_ogb_graphs(const std::string& directory, Threads threads);

}  // namespace graphpae
