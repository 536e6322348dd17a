// What kernels are tested with: random numbers, a graph with a hub, sparse features, the decisions of dropout.
#pragma once

#include <cstdint>
#include <random>
#include <vector>

#include "graphpae/core/edge_index.h"
#include "graphpae/core/features.h"
#include "graphpae/core/rng.h"
#include "graphpae/kernels/dropout.h"

namespace graphpae::test {

inline std::vector<float> random_values(size_t count, uint64_t stream, double scale = 1) {
  const Rng rng(7, stream);
  std::vector<float> values(count);
  for (size_t i = 0; i < count; ++i) values[i] = static_cast<float>(scale * rng.normal(i));
  return values;
}

// Node 0 is a hub, the last three nodes have no neighbour.
inline EdgeIndex hub_graph(int64_t n, bool with_self_loops = true) {
  const Rng rng(3);
  std::vector<Edge> list;
  for (int32_t i = 1; i < n - 3; ++i) {
    list.push_back({0, i});
    for (uint64_t k = 0; k < 3; ++k) list.push_back({i, static_cast<int32_t>(rng.below(4 * i + k, n - 3))});
  }
  return EdgeIndex(Adjacency::from_edges(list, n), with_self_loops);
}

// Positive values; some rows are empty.
inline Features random_sparse(int64_t rows, int64_t columns, double density, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> uniform(0, 1);
  std::vector<int64_t> offsets = {0};
  std::vector<int32_t> indices;
  std::vector<float> values;
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < columns && i % 9 != 4; ++j) {
      if (uniform(engine) >= density) continue;
      indices.push_back(static_cast<int32_t>(j));
      values.push_back(static_cast<float>(0.5 + uniform(engine)));
    }
    offsets.push_back(static_cast<int64_t>(indices.size()));
  }
  return Features::sparse(rows, columns, offsets, indices, values);
}

inline std::vector<float> dense_copy(const Features& features) {
  std::vector<float> result(static_cast<size_t>(features.rows() * features.columns()));
  for (int64_t i = 0; i < features.rows(); ++i) {
    const SparseRow row = features.sparse_row(i);
    for (size_t e = 0; e < row.columns.size(); ++e) result[i * features.columns() + row.columns[e]] = row.values[e];
  }
  return result;
}

// What dropout multiplies an element by.
inline double factor(const kernels::Dropout& dropout, int64_t row, int64_t column) {
  if (!dropout.active()) return 1;
  return keeps(dropout, dropout_row_hash(dropout, row), static_cast<uint32_t>(column)) ? dropout.scale() : 0;
}

}  // namespace graphpae::test
