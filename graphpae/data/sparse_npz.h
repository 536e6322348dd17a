// SciPy sparse matrices saved as .npz: csr, csc and coo.
#pragma once

#include <cstdint>
#include <vector>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/features.h"
#include "graphpae/io/npy.h"

namespace graphpae {

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

// Triples to rows, keeping the order of entries inside a row. `row` and `column` are in range.
SparseMatrix rows_from_triples(int64_t rows, int64_t columns, const std::vector<int32_t>& row,
                               const std::vector<int32_t>& column, const std::vector<float>& values);

}  // namespace graphpae
