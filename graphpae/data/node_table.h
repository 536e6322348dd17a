// Features, labels and splits of nodes, from the files users keep them in.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/features.h"
#include "graphpae/core/split.h"
#include "graphpae/core/text_column.h"
#include "graphpae/io/npy.h"

namespace graphpae {

// From the name of a node to its number. Without names, a name is the number itself.
class NodeIndex {
 public:
  NodeIndex(const TextColumn& names, int64_t num_nodes);
  int64_t find(std::string_view name) const;  // -1 if there is no such node

 private:
  std::unordered_map<std::string_view, int64_t> numbers_;
  bool has_names_;
  int64_t num_nodes_;
};

// .npz (SciPy sparse, or one dense array), .npy, or .csv/.tsv/.txt[.gz] (one row of numbers per node,
// with a header or without; a first column headed node or id says which node the row belongs to, if
// `index` is given).
Features read_features(const std::string& path, const NodeIndex* index = nullptr, int64_t num_nodes = -1);

struct Labels {
  std::vector<int32_t> values;           // [N]
  std::vector<std::string> class_names;  // if the labels were text, in alphabetical order
};

// .npy, .npz with one array, or .csv/.tsv/.txt[.gz]: one label per line, or `node,label` lines. -1, nan or
// nothing is unlabelled.
Labels read_labels(const std::string& path, const NodeIndex* index = nullptr, int64_t num_nodes = -1);

// .npz with train_0, val_0 (or valid_0), test_0, ...; without a number for a single split; or
// train_mask(s), val_mask(s), test_mask(s) of booleans, [N], [S,N] or [N,S].
std::vector<Split> read_splits(const std::string& path, int64_t num_nodes);
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
