#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>

#include "graphpae/core/error.h"
#include "graphpae/data/edge_list.h"
#include "graphpae/data/graph_readers.h"
#include "graphpae/data/node_table.h"

namespace graphpae {

Buffer<Edge> edges_from_array(const NpyArray& array) {
  array.expect_dimensions(2);
  const bool pairs_in_rows = array.shape[1] == 2;
  if (!pairs_in_rows && array.shape[0] != 2) {
    throw data_error(
        fmt::format("{}: is {} x {}, expected [E,2] or [2,E]", array.name, array.shape[0], array.shape[1]));
  }
  const std::vector<int32_t> ids = array.to_int32();
  const size_t count = ids.size() / 2;
  Buffer<Edge> edges(count);
  for (size_t e = 0; e < count; ++e) {
    edges[e] = pairs_in_rows ? Edge{ids[2 * e], ids[2 * e + 1]} : Edge{ids[e], ids[count + e]};
    if (edges[e].src < 0 || edges[e].dst < 0)
      throw data_error(fmt::format("{}: edge {} has a negative node", array.name, e));
  }
  return edges;
}

GraphParts read_npz_graph(const std::string& path) {
  const NpzFile file(path);
  GraphParts parts;
  int64_t from_edges = 0;
  if (is_sparse_npz(file) || file.has("adj_indptr")) {
    const SparseMatrix matrix = read_sparse_npz(file, is_sparse_npz(file) ? "" : "adj_");
    parts.edges.push_back(sparse_edges(matrix));
    parts.weights.emplace_back();
    std::copy_if(matrix.values.begin(), matrix.values.end(), std::back_inserter(parts.weights[0]),
                 [](float value) { return value != 0; });
    parts.num_nodes = matrix.rows;
  } else if (const std::string edges = file.first_of({"edges", "edge_index", "edge_list"}); !edges.empty()) {
    parts.edges.push_back(edges_from_array(file.read(edges)));
    from_edges = nodes_in(parts.edges);
  } else {
    throw data_error(fmt::format("{}: no graph in its arrays ({}); expected a SciPy sparse matrix or 'edges'", path,
                                 fmt::join(file.names(), ", ")));
  }
  if (file.has("attr_indptr")) {
    parts.features = sparse_features(read_sparse_npz(file, "attr_"));
  } else if (const std::string name = file.first_of({"features", "node_features", "x", "X", "attr_matrix"});
             !name.empty()) {
    const NpyArray array = file.read(name);
    array.expect_dimensions(2);
    parts.features =
        naming(array.name, [&] { return Features::compact(array.shape[0], array.shape[1], array.to_float()); });
  }
  if (const std::string name = file.first_of({"labels", "node_labels", "y", "target"}); !name.empty()) {
    parts.labels = labels_from(file.read(name));
  }
  if (parts.num_nodes == 0) {
    parts.num_nodes = std::max({parts.features.rows(), static_cast<int64_t>(parts.labels.size()), int64_t{0}});
    if (parts.num_nodes == 0) parts.num_nodes = from_edges;
  }
  if (has_splits(file)) parts.splits = splits_from(file, parts.num_nodes);
  return parts;
}

}  // namespace graphpae
