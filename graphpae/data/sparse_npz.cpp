#include <fmt/format.h>

#include <numeric>

#include "graphpae/core/error.h"
#include "graphpae/data/node_table.h"

namespace graphpae {
namespace {

void check_indices(const std::string& name, const std::vector<int32_t>& indices, int64_t limit) {
  for (size_t i = 0; i < indices.size(); ++i) {
    if (indices[i] < 0 || indices[i] >= limit) {
      throw data_error(fmt::format("{}: index {} at position {} is outside 0..{}", name, indices[i], i, limit - 1));
    }
  }
}

// The row (or column) of every entry, from compressed offsets.
std::vector<int32_t> expand(const std::string& name, const std::vector<int64_t>& offsets, size_t entries) {
  std::vector<int32_t> result;
  result.reserve(entries);
  for (size_t i = 0; i + 1 < offsets.size(); ++i) {
    const int64_t count = offsets[i + 1] - offsets[i];
    if (offsets[0] != 0 || count < 0 || result.size() + count > entries)
      throw data_error(fmt::format("{}: row offsets are not ascending at {}", name, i));
    result.insert(result.end(), count, static_cast<int32_t>(i));
  }
  if (result.size() != entries)
    throw data_error(fmt::format("{}: row offsets end at {}, but there are {} entries", name, result.size(), entries));
  return result;
}

}  // namespace

bool is_sparse_npz(const NpzFile& file) {
  return file.has("data") && file.has("shape") && (file.has("indptr") || file.has("row"));
}

SparseMatrix rows_from_triples(int64_t rows, int64_t columns, const std::vector<int32_t>& row,
                               const std::vector<int32_t>& column, const std::vector<float>& values) {
  SparseMatrix matrix{"", rows, columns, std::vector<int64_t>(rows + 1, 0), {}, {}};
  for (const int32_t r : row) ++matrix.offsets[r + 1];
  std::partial_sum(matrix.offsets.begin(), matrix.offsets.end(), matrix.offsets.begin());
  std::vector<int64_t> next(matrix.offsets.begin(), matrix.offsets.end() - 1);
  matrix.indices.resize(row.size());
  matrix.values.resize(row.size());
  for (size_t i = 0; i < row.size(); ++i) {
    const int64_t place = next[row[i]]++;
    matrix.indices[place] = column[i];
    matrix.values[place] = values[i];
  }
  return matrix;
}

SparseMatrix read_sparse_npz(const NpzFile& file, const std::string& prefix) {
  const auto array = [&](const char* name) { return file.read(prefix + name); };
  const NpyArray shape_array = array("shape");
  const std::vector<int64_t> shape = shape_array.to_int64();
  if (shape.size() != 2 || shape[0] < 0 || shape[1] < 0 || shape[0] > kMaxNodes || shape[1] > kMaxNodes) {
    throw data_error(fmt::format("{}: is not the shape of a matrix", shape_array.name));
  }
  const std::string format = file.has(prefix + "format")   ? array("format").to_text()
                             : file.has(prefix + "indptr") ? "csr"
                                                           : "coo";
  const Buffer<float> data = array("data").to_float();
  const std::vector<float> values(data.begin(), data.end());
  SparseMatrix matrix;
  if (format == "csr" || format == "csc") {
    const NpyArray index_array = array("indices"), offset_array = array("indptr");
    const std::vector<int32_t> indices = index_array.to_int32();
    const std::vector<int64_t> offsets = offset_array.to_int64();
    const int64_t major = format == "csr" ? shape[0] : shape[1], minor = format == "csr" ? shape[1] : shape[0];
    if (static_cast<int64_t>(offsets.size()) != major + 1) {
      throw data_error(fmt::format("{}: has {} values, expected {}", offset_array.name, offsets.size(), major + 1));
    }
    if (indices.size() != values.size()) {
      throw data_error(
          fmt::format("{}: has {} values, but 'data' has {}", index_array.name, indices.size(), values.size()));
    }
    check_indices(index_array.name, indices, minor);
    const std::vector<int32_t> expanded = expand(offset_array.name, offsets, indices.size());
    matrix = format == "csr" ? SparseMatrix{"", shape[0], shape[1], offsets, indices, values}
                             : rows_from_triples(shape[0], shape[1], indices, expanded, values);
  } else if (format == "coo") {
    const NpyArray row_array = array("row"), column_array = array("col");
    const std::vector<int32_t> row = row_array.to_int32(), column = column_array.to_int32();
    if (row.size() != values.size() || column.size() != values.size()) {
      throw data_error(fmt::format("{}: row, col and data differ in length", file.path()));
    }
    check_indices(row_array.name, row, shape[0]);
    check_indices(column_array.name, column, shape[1]);
    matrix = rows_from_triples(shape[0], shape[1], row, column, values);
  } else {
    throw data_error(fmt::format("{}: sparse format '{}' is not supported (csr, csc, coo are)", file.path(), format));
  }
  matrix.name = file.path();
  return matrix;
}

Features sparse_features(SparseMatrix matrix) {
  return Features::sparse(matrix.rows, matrix.columns, std::move(matrix.offsets), std::move(matrix.indices),
                          std::move(matrix.values));
}

Buffer<Edge> sparse_edges(const SparseMatrix& matrix) {
  if (matrix.rows != matrix.columns) {
    throw data_error(fmt::format("{}: an adjacency matrix must be square, this one is {} x {}", matrix.name,
                                 matrix.rows, matrix.columns));
  }
  Buffer<Edge> edges;
  edges.reserve(matrix.indices.size());
  for (int64_t row = 0; row < matrix.rows; ++row) {
    for (int64_t i = matrix.offsets[row]; i < matrix.offsets[row + 1]; ++i) {
      if (matrix.values[i] != 0) edges.push_back({static_cast<int32_t>(row), matrix.indices[i]});
    }
  }
  return edges;
}

}  // namespace graphpae
