#include <fmt/format.h>
#include <fmt/ranges.h>
#include <matio.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>

#include "graphpae/core/error.h"
#include "graphpae/data/graph_readers.h"
#include "graphpae/data/node_table.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

using Variable = std::unique_ptr<matvar_t, void (*)(matvar_t*)>;

class MatFile {
 public:
  explicit MatFile(const std::string& path) : path_(path), file_(Mat_Open(path.c_str(), MAT_ACC_RDONLY), Mat_Close) {
    if (!file_) throw data_error(fmt::format("{}: not a readable .mat file", path));
    size_t count = 0;
    char* const* names = Mat_GetDir(file_.get(), &count);
    for (size_t i = 0; names != nullptr && i < count; ++i) {
      if (names[i] != nullptr) names_.emplace_back(names[i]);
    }
  }

  // The first of `wanted` that is there, whatever its case, or "".
  std::string find(std::initializer_list<std::string> wanted) const {
    for (const std::string& name : wanted) {
      for (const std::string& candidate : names_) {
        if (lower(candidate) == lower(name)) return candidate;
      }
    }
    return "";
  }

  Variable read(const std::string& name) const {
    Variable variable(Mat_VarRead(file_.get(), name.c_str()), Mat_VarFree);
    if (!variable || variable->data == nullptr)
      throw data_error(fmt::format("{}: variable '{}' cannot be read", path_, name));
    if (variable->rank != 2)
      throw data_error(fmt::format("{}: variable '{}' has {} dimensions, expected 2", path_, name, variable->rank));
    if (variable->isComplex) throw data_error(fmt::format("{}: variable '{}' is complex", path_, name));
    return variable;
  }

  Error error(const std::string& name, const std::string& what) const {
    return data_error(fmt::format("{}: variable '{}': {}", path_, name, what));
  }
  const std::vector<std::string>& names() const { return names_; }
  const std::string& path() const { return path_; }

 private:
  std::string path_;
  std::unique_ptr<mat_t, int (*)(mat_t*)> file_;
  std::vector<std::string> names_;
};

// A number of an array of any numeric class.
double value_at(const MatFile& file, const std::string& name, matio_types type, const void* data, size_t i) {
  switch (type) {
    case MAT_T_INT8: return static_cast<const int8_t*>(data)[i];
    case MAT_T_UINT8: return static_cast<const uint8_t*>(data)[i];
    case MAT_T_INT16: return static_cast<const int16_t*>(data)[i];
    case MAT_T_UINT16: return static_cast<const uint16_t*>(data)[i];
    case MAT_T_INT32: return static_cast<const int32_t*>(data)[i];
    case MAT_T_UINT32: return static_cast<const uint32_t*>(data)[i];
    case MAT_T_INT64: return static_cast<double>(static_cast<const int64_t*>(data)[i]);
    case MAT_T_UINT64: return static_cast<double>(static_cast<const uint64_t*>(data)[i]);
    case MAT_T_SINGLE: return static_cast<const float*>(data)[i];
    case MAT_T_DOUBLE: return static_cast<const double*>(data)[i];
    default: throw file.error(name, "does not hold numbers");
  }
}

struct Dense {
  int64_t rows, columns;
  std::vector<double> values;  // row-major
};

Dense dense_of(const MatFile& file, const std::string& name, const matvar_t& variable) {
  Dense dense{static_cast<int64_t>(variable.dims[0]), static_cast<int64_t>(variable.dims[1]), {}};
  const size_t size = Mat_SizeOf(variable.data_type);
  const uint64_t count = static_cast<uint64_t>(dense.rows) * static_cast<uint64_t>(dense.columns);
  if (size == 0 || count != variable.nbytes / size) throw file.error(name, "its size does not match its dimensions");
  dense.values.resize(count);
  for (int64_t c = 0; c < dense.columns; ++c) {
    for (int64_t r = 0; r < dense.rows; ++r) {
      dense.values[r * dense.columns + c] = value_at(file, name, variable.data_type, variable.data, c * dense.rows + r);
    }
  }
  return dense;
}

// MATLAB stores columns: entries of column j are ir[jc[j]] .. ir[jc[j+1]-1].
// `expected_rows` is known for attributes; -1 wants a square matrix. Checked before anything of that size is made.
SparseMatrix sparse_of(const MatFile& file, const std::string& name, const matvar_t& variable, int64_t expected_rows) {
  std::vector<int32_t> row, column;
  std::vector<float> values;
  if (variable.class_type != MAT_C_SPARSE) {
    const Dense dense = dense_of(file, name, variable);
    for (size_t i = 0; i < dense.values.size(); ++i) {
      if (dense.values[i] == 0) continue;
      row.push_back(static_cast<int32_t>(i / dense.columns));
      column.push_back(static_cast<int32_t>(i % dense.columns));
      values.push_back(static_cast<float>(dense.values[i]));
    }
    return rows_from_triples(dense.rows, dense.columns, row, column, values);
  }
  const auto& sparse = *static_cast<const mat_sparse_t*>(variable.data);
  const int64_t rows = static_cast<int64_t>(variable.dims[0]), columns = static_cast<int64_t>(variable.dims[1]);
  if (rows != (expected_rows < 0 ? columns : expected_rows)) {
    throw file.error(name, fmt::format("is {} x {}, expected {}", rows, columns,
                                       expected_rows < 0 ? "a square matrix" : fmt::format("{} rows", expected_rows)));
  }
  if (rows > kMaxNodes || columns > kMaxNodes || static_cast<int64_t>(sparse.njc) != columns + 1) {
    throw file.error(name, "its column offsets do not match its dimensions");
  }
  for (int64_t c = 0; c < columns; ++c) {
    const uint64_t begin = sparse.jc[c], end = sparse.jc[c + 1];
    if (begin > end || end > sparse.nir) throw file.error(name, fmt::format("bad offsets of column {}", c));
    for (uint64_t i = begin; i < end; ++i) {
      if (static_cast<int64_t>(sparse.ir[i]) >= rows)
        throw file.error(name, fmt::format("row {} is outside 0..{}", sparse.ir[i], rows - 1));
      // Logical matrices may carry no values.
      const bool has_value = sparse.data != nullptr && i < sparse.ndata;
      row.push_back(static_cast<int32_t>(sparse.ir[i]));
      column.push_back(static_cast<int32_t>(c));
      values.push_back(has_value ? static_cast<float>(value_at(file, name, variable.data_type, sparse.data, i)) : 1.0f);
    }
  }
  return rows_from_triples(rows, columns, row, column, values);
}

SparseMatrix read_matrix(const MatFile& file, const std::string& name, int64_t expected_rows = -1) {
  const Variable variable = file.read(name);
  SparseMatrix matrix = sparse_of(file, name, *variable, expected_rows);
  matrix.name = fmt::format("{}: variable '{}'", file.path(), name);
  return matrix;
}

void add_facebook100(const MatFile& file, const std::string& name, GraphParts& parts) {
  const Variable variable = file.read(name);
  const Dense info = dense_of(file, name, *variable);
  if (info.rows != parts.num_nodes || info.columns < 2) {
    throw file.error(
        name, fmt::format("is {} x {}, expected {} rows of at least 2", info.rows, info.columns, parts.num_nodes));
  }
  constexpr int64_t kGender = 1;
  std::vector<int32_t> row, column;
  int32_t first_column = 0;
  for (int64_t field = 0; field < info.columns; ++field) {
    std::map<double, int32_t> codes;
    for (int64_t node = 0; node < info.rows; ++node) {
      const double value = info.values[node * info.columns + field];
      if (!std::isfinite(value)) throw file.error(name, fmt::format("row {}, column {} is not finite", node, field));
      codes[value] = 0;
    }
    if (field == kGender) {
      for (int64_t node = 0; node < info.rows; ++node) {
        const double gender = info.values[node * info.columns + field];
        if (gender < 0 || gender > 1000 || gender != std::floor(gender))
          throw file.error(name, fmt::format("row {}: gender {}", node, gender));
        parts.labels.push_back(static_cast<int32_t>(gender) - 1);
      }
      continue;
    }
    for (auto& [value, code] : codes) code = first_column++;
    for (int64_t node = 0; node < info.rows; ++node) {
      row.push_back(static_cast<int32_t>(node));
      column.push_back(codes[info.values[node * info.columns + field]]);
    }
  }
  parts.features =
      sparse_features(rows_from_triples(info.rows, first_column, row, column, std::vector<float>(row.size(), 1.0f)));
}

// Classes in any numbering, for instance 1..C; a 0 among positive classes stays a class.
void add_labels(const MatFile& file, const std::string& name, GraphParts& parts) {
  const Variable variable = file.read(name);
  const Dense labels = variable->class_type == MAT_C_SPARSE ? Dense{0, 0, {}} : dense_of(file, name, *variable);
  if (labels.rows * labels.columns != parts.num_nodes || std::min(labels.rows, labels.columns) != 1) {
    throw file.error(name, fmt::format("is {} x {}, expected one label for each of {} nodes", variable->dims[0],
                                       variable->dims[1], parts.num_nodes));
  }
  const std::set<double> classes(labels.values.begin(), labels.values.end());
  for (const double value : labels.values) {
    if (!std::isfinite(value)) throw file.error(name, "a label is not finite");
    parts.labels.push_back(static_cast<int32_t>(std::distance(classes.begin(), classes.find(value))));
  }
}

}  // namespace

GraphParts read_mat(const std::string& path) {
  InputFile exists(path);  // a clear message if it cannot be opened
  const MatFile file(path);
  const std::string network = file.find({"A", "Network", "adj", "adjacency"});
  if (network.empty()) {
    throw data_error(fmt::format("{}: no variable A or Network (found: {})", path, fmt::join(file.names(), ", ")));
  }
  GraphParts parts;
  const SparseMatrix matrix = read_matrix(file, network);
  parts.edges.push_back(sparse_edges(matrix));
  parts.num_nodes = matrix.rows;
  if (const std::string info = file.find({"local_info"}); !info.empty()) {
    add_facebook100(file, info, parts);
    return parts;
  }
  if (const std::string attributes = file.find({"Attributes", "X", "features"}); !attributes.empty()) {
    parts.features = naming(path, [&] { return sparse_features(read_matrix(file, attributes, parts.num_nodes)); });
  }
  if (const std::string labels = file.find({"Class", "Label", "labels", "gnd"}); !labels.empty())
    add_labels(file, labels, parts);
  return parts;
}

}  // namespace graphpae
