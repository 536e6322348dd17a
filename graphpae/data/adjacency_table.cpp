#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "graphpae/core/error.h"
#include "graphpae/data/edge_list.h"
#include "graphpae/data/graph_readers.h"
#include "graphpae/data/node_table.h"
#include "graphpae/io/input_file.h"
#include "graphpae/io/npy.h"
#include "graphpae/io/text.h"

namespace graphpae {
namespace {

constexpr int64_t kSmallestMatrix = 3;  // two rows of two numbers are two edges

struct SquareMatrix {
  int64_t nodes = 0;
  std::vector<std::pair<Edge, float>> entries;  // that are not 0, row by row
  TextColumn names;                             // [nodes], or empty
  int64_t zeros = 0;
};

bool is_symmetric(const SquareMatrix& matrix) {
  const auto before = [](const std::pair<Edge, float>& a, const std::pair<Edge, float>& b) {
    return std::pair(a.first.src, a.first.dst) < std::pair(b.first.src, b.first.dst);
  };
  std::vector<std::pair<Edge, float>> turned;
  for (const auto& [edge, value] : matrix.entries) turned.push_back({{edge.dst, edge.src}, value});
  std::sort(turned.begin(), turned.end(), before);
  return turned == matrix.entries;
}

GraphParts parts_of(SquareMatrix matrix) {
  GraphParts parts;
  parts.num_nodes = matrix.nodes;
  parts.directed = !is_symmetric(matrix);
  parts.node_names = std::move(matrix.names);
  Buffer<Edge> edges;
  Buffer<float> weights;
  bool weighted = false;
  for (const auto& [edge, value] : matrix.entries) {
    edges.push_back(edge);
    weights.push_back(value);
    weighted = weighted || value != 1;
  }
  parts.edges.push_back(std::move(edges));
  if (weighted) parts.weights.push_back(std::move(weights));
  return parts;
}

bool all_numbers(const std::vector<std::string>& fields, size_t first) {
  return std::all_of(fields.begin() + static_cast<int64_t>(first), fields.end(),
                     [](const std::string& field) { return parse_real(field).has_value(); });
}

// A column of a table of edges, by its name.
bool names_edge_column(const std::string& name) {
  constexpr std::string_view kWords[] = {"src", "dst", "source", "target", "from", "to", "weight", "node1", "node2"};
  return std::find(std::begin(kWords), std::end(kWords), lower(name)) != std::end(kWords);
}

// The rows of a table that may be a matrix. Reading stops at the first sign that it is none.
class MatrixTable {
 public:
  explicit MatrixTable(const std::string& path) : reader_(path) {}

  std::optional<SquareMatrix> read() {
    std::string_view line;
    while (next(line)) {
      if (!split_fields(trim(line), delimiter_, fields_)) return std::nullopt;
      for (std::string& field : fields_) field = std::string(trim(field));
      if (!header_seen_ && rows_ == 0 && take_header()) {
        if (std::any_of(header_.begin(), header_.end(), names_edge_column)) return std::nullopt;
        continue;
      }
      if (!take_row()) return std::nullopt;
    }
    if (rows_ < kSmallestMatrix || rows_ != matrix_.nodes || !names_fit()) return std::nullopt;
    if (!has_row_names_ && !is_symmetric(matrix_) && !is_mostly_empty()) return std::nullopt;
    if (header_seen_) {
      bool count = true;
      for (size_t i = 0; i < header_.size(); ++i) count = count && header_[i] == std::to_string(i);
      for (const std::string& name : header_) {
        if (!count) matrix_.names.push_back(name);
      }
    }
    return std::move(matrix_);
  }

 private:
  bool next(std::string_view& line) {
    while (reader_.next(line)) {
      const std::string_view text = trim(line);
      if (text.empty() || text[0] == '#' || text[0] == '%') continue;
      if (rows_ == 0 && !header_seen_) delimiter_ = sniff_delimiter(text);
      return true;
    }
    return false;
  }

  // A first line of names: with an empty or any corner above row names, or one field less than rows have.
  bool take_header() {
    const bool corner = fields_[0].empty() && fields_.size() > 1;
    if (!corner && all_numbers(fields_, 0)) return false;
    header_seen_ = true;
    header_ = fields_;
    return true;
  }

  bool take_row() {
    if (rows_ == 0) {
      const size_t width = fields_.size();
      if (header_seen_) {
        has_row_names_ = header_.size() == width && fields_[0] == header_[std::min<size_t>(1, width - 1)];
        if (has_row_names_) header_.erase(header_.begin());
        if (!has_row_names_ && header_.size() + 1 == width) has_row_names_ = true;
        if (!has_row_names_ && header_.size() != width) return false;
      }
      matrix_.nodes = static_cast<int64_t>(width) - (has_row_names_ ? 1 : 0);
      if (matrix_.nodes < kSmallestMatrix) return false;
    }
    const size_t skip = has_row_names_ ? 1 : 0;
    if (rows_ >= matrix_.nodes ||
        static_cast<int64_t>(fields_.size() - std::min(skip, fields_.size())) != matrix_.nodes)
      return false;
    if (has_row_names_) row_names_.push_back(fields_[0]);
    for (int64_t column = 0; column < matrix_.nodes; ++column) {
      const std::optional<double> value = parse_real(fields_[column + skip]);
      if (!value || !std::isfinite(*value)) return false;
      if (*value == 0) {
        ++matrix_.zeros;
      } else {
        matrix_.entries.push_back(
            {{static_cast<int32_t>(rows_), static_cast<int32_t>(column)}, static_cast<float>(*value)});
      }
    }
    ++rows_;
    return true;
  }

  // A table of edges may be as long as it is wide by accident, but hardly has zeros in half its places and in its
  // diagonal.
  bool is_mostly_empty() const {
    return 2 * matrix_.zeros >= rows_ * rows_ &&
           std::none_of(matrix_.entries.begin(), matrix_.entries.end(),
                        [](const auto& entry) { return entry.first.src == entry.first.dst; });
  }

  // Rows and columns are named alike, and no two alike.
  bool names_fit() const {
    if (!header_seen_) return true;
    std::vector<std::string> sorted = header_;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) return false;
    return !has_row_names_ || row_names_ == header_;
  }

  LineReader reader_;
  char delimiter_ = ',';
  std::vector<std::string> fields_, header_, row_names_;
  bool header_seen_ = false, has_row_names_ = false;
  int64_t rows_ = 0;
  SquareMatrix matrix_;
};

}  // namespace

std::optional<GraphParts> read_adjacency_table(const std::string& path) {
  std::optional<SquareMatrix> matrix = MatrixTable(path).read();
  if (!matrix) return std::nullopt;
  return parts_of(std::move(*matrix));
}

GraphParts read_npy_graph(const std::string& path, std::vector<std::string>& notes) {
  const NpyArray array = read_npy(path);
  array.expect_dimensions(2);
  const int64_t rows = array.shape[0], columns = array.shape[1];
  if (rows == columns && rows > 0) {
    if (rows >= kMaxNodes) throw data_error(fmt::format("{}: too many nodes", path));
    SquareMatrix matrix;
    matrix.nodes = rows;
    const Buffer<float> values = array.to_float();
    for (int64_t i = 0; i < rows * rows; ++i) {
      const Edge edge{static_cast<int32_t>(i / rows), static_cast<int32_t>(i % rows)};
      if (!std::isfinite(values[i]))
        throw data_error(fmt::format("{}: row {}, column {}: {} is not finite", path, edge.src, edge.dst, values[i]));
      if (values[i] != 0) matrix.entries.push_back({edge, values[i]});
    }
    notes.push_back(fmt::format("{}: read as an adjacency matrix of {} nodes", path, grouped(rows)));
    return parts_of(std::move(matrix));
  }
  if (columns != 2 && rows != 2)
    throw data_error(fmt::format("{}: is {} x {}, expected a square adjacency matrix, or edges [E,2] or [2,E]", path,
                                 rows, columns));
  GraphParts parts;
  parts.edges.push_back(edges_from_array(array));
  parts.num_nodes = nodes_in(parts.edges);
  const int64_t edges = count_edges(parts.edges);
  if (parts.num_nodes > 64 * edges + 1'000'000)
    throw data_error(fmt::format("{}: node number {} is too large for {} edges", path, parts.num_nodes - 1, edges));
  notes.push_back(fmt::format("{}: read as {} edges", path, grouped(edges)));
  return parts;
}

}  // namespace graphpae
