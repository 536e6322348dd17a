// Features, labels and splits of nodes, from the files users keep them in.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/features.h"
#include "graphpae/core/split.h"
#include "graphpae/data/column_use.h"
#include "graphpae/data/node_rows.h"
#include "graphpae/io/npy.h"

namespace graphpae {

// N rows of F numbers about nodes.
struct FeatureTable {
  Features values;
  std::vector<std::string> names;  // [F] of the columns, or empty
  ColumnUse columns;               // of a text table
};

// .npz (SciPy sparse, or one dense array; names of columns in an array columns, feature_names or names), .npy, or
// .csv/.tsv/.txt[.gz]: one row of numbers per node (node_rows.h), with a header or without. Rows that name their node
// need `index`. A missing row is an error that names the node.
FeatureTable read_feature_table(const std::string& path, const NodeIndex* index = nullptr, int64_t num_nodes = -1,
                                const std::string& id_column = "");
Features read_features(const std::string& path, const NodeIndex* index = nullptr, int64_t num_nodes = -1);

struct Labels {
  std::vector<int32_t> values;           // [N]
  std::vector<std::string> class_names;  // if the labels were text, in alphabetical order
  ColumnUse columns = {};                // of a text table
};

// .npy, .npz with one array, or .csv/.tsv/.txt[.gz]: one label per line, or a column of nodes and one of labels (headed
// label, class, y, target, ... if there are more). -1 and missing values (is_missing_value) are unlabelled.
Labels read_labels(const std::string& path, const NodeIndex* index = nullptr, int64_t num_nodes = -1,
                   const std::string& id_column = "");

// .npz with train_0, val_0 (or valid_0), test_0, ...; without a number for a single split; or
// train_mask(s), val_mask(s), test_mask(s) of booleans, [N], [S,N] or [N,S].
std::vector<Split> read_splits(const std::string& path, int64_t num_nodes);    // .npz
void write_splits(const std::string& path, const std::vector<Split>& splits);  // train_0, val_0, test_0, ...
bool has_splits(const NpzFile& file);
std::vector<Split> splits_from(const NpzFile& file, int64_t num_nodes);

// Labels from numbers: whole, -1 and NaN unlabelled.
std::vector<int32_t> labels_from(const NpyArray& array);

// SciPy sparse matrices saved as .npz: csr, csc and coo.
struct SparseMatrix {
  std::string name;  // of the file, for error messages
  int64_t rows = 0, columns = 0;
  std::vector<int64_t> offsets;  // [rows+1]
  std::vector<int32_t> indices;
  std::vector<float> values;
};

bool is_sparse_npz(const NpzFile& file);
// `prefix` selects one of several matrices in a file: "adj_" for adj_data, adj_indices, ...
SparseMatrix read_sparse_npz(const NpzFile& file, const std::string& prefix = "");

Features sparse_features(SparseMatrix matrix);
// The positions of non-zero entries as edges. Throws a data error if the matrix is not square.
Buffer<Edge> sparse_edges(const SparseMatrix& matrix);

// Pairs of nodes, [E,2] or [2,E]. Throws a data error for another shape or a negative node.
Buffer<Edge> edges_from_array(const NpyArray& array);

// Triples to rows, keeping the order of entries inside a row. `row` and `column` are in range.
SparseMatrix rows_from_triples(int64_t rows, int64_t columns, const std::vector<int32_t>& row,
                               const std::vector<int32_t>& column, const std::vector<float>& values);

}  // namespace graphpae
