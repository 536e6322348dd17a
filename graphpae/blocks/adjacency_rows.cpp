#include "graphpae/blocks/adjacency_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "graphpae/blocks/randomised_svd.h"

namespace graphpae {
namespace {

constexpr int64_t kWidestReduced = 128;  // columns of what has hundreds of millions of entries
constexpr int64_t kRowsPerTask = 256;

// Rows of edges in one direction; weights of all entries or none.
struct EdgeRows {
  std::span<const int64_t> offsets;
  std::span<const int32_t> ends;
  std::span<const float> weights;
  std::vector<float> scale;  // [N] one over the length of the row, or 0

  float value(int64_t row, int64_t k) const { return weights.empty() ? scale[row] : scale[row] * weights[k]; }
};

EdgeRows scaled(std::span<const int64_t> offsets, std::span<const int32_t> ends, std::span<const float> weights) {
  EdgeRows rows{offsets, ends, weights, std::vector<float>(offsets.size() - 1)};
  for (size_t i = 0; i < rows.scale.size(); ++i) {
    double square = weights.empty() ? static_cast<double>(offsets[i + 1] - offsets[i]) : 0;
    for (int64_t k = offsets[i]; k < offsets[i + 1] && !weights.empty(); ++k)
      square += static_cast<double>(weights[k]) * weights[k];
    rows.scale[i] = square > 0 ? static_cast<float>(1 / std::sqrt(square)) : 0;
  }
  return rows;
}

// The edges that arrive at each node.
struct Reversed {
  std::vector<int64_t> offsets;
  std::vector<int32_t> ends;
  std::vector<float> weights;

  explicit Reversed(const DirectedEdges& edges)
      : offsets(static_cast<size_t>(edges.num_nodes() + 1), 0),
        ends(edges.targets().size()),
        weights(edges.weights().size()) {
    for (const int32_t target : edges.targets()) ++offsets[target + 1];
    for (size_t i = 1; i < offsets.size(); ++i) offsets[i] += offsets[i - 1];
    std::vector<int64_t> place(offsets.begin(), offsets.end() - 1);
    for (int64_t i = 0; i < edges.num_nodes(); ++i) {
      for (int64_t k = edges.offsets()[i]; k < edges.offsets()[i + 1]; ++k) {
        const int64_t to = place[edges.targets()[k]]++;
        ends[to] = static_cast<int32_t>(i);
        if (!weights.empty()) weights[to] = edges.weights()[k];
      }
    }
  }
};

// Directions side by side, sparse.
Features sparse_rows(const std::vector<EdgeRows>& directions, int64_t n) {
  std::vector<int64_t> offsets(1, 0);
  std::vector<int32_t> columns;
  std::vector<float> values;
  for (int64_t i = 0; i < n; ++i) {
    for (size_t d = 0; d < directions.size(); ++d) {
      const EdgeRows& rows = directions[d];
      for (int64_t k = rows.offsets[i]; k < rows.offsets[i + 1]; ++k) {
        columns.push_back(static_cast<int32_t>(static_cast<int64_t>(d) * n + rows.ends[k]));
        values.push_back(rows.value(i, k));
      }
    }
    offsets.push_back(static_cast<int64_t>(columns.size()));
  }
  return Features::sparse(n, n * static_cast<int64_t>(directions.size()), std::move(offsets), std::move(columns),
                          std::move(values));
}

// out[i] += sum over the edges k of row i of value * in[ends[k]]; rows of r floats. With `scale_of_end` values are
// scaled as the row of their end is: if `rows` holds columns of a matrix, the product is with its transpose.
void add_product(const EdgeRows& rows, const std::vector<float>* scale_of_end, const float* in, int64_t r, float* out,
                 Threads threads) {
  const auto n = static_cast<int64_t>(rows.scale.size());
  parallel_tasks(threads, (n + kRowsPerTask - 1) / kRowsPerTask, [&](int64_t task) {
    flush_denormals();
    for (int64_t i = task * kRowsPerTask; i < std::min(n, (task + 1) * kRowsPerTask); ++i) {
      float* to = out + i * r;
      for (int64_t k = rows.offsets[i]; k < rows.offsets[i + 1]; ++k) {
        const float own = scale_of_end ? (*scale_of_end)[rows.ends[k]] : rows.scale[i];
        const float value = rows.weights.empty() ? own : own * rows.weights[k];
        const float* from = in + rows.ends[k] * r;
        for (int64_t c = 0; c < r; ++c) to[c] += value * from[c];
      }
    }
  });
}

// directions[d], and what arrives where directions[d] leaves.
struct Direction {
  const EdgeRows *rows, *reversed;
};

Buffer<float> reduced_rows(const std::vector<Direction>& directions, int64_t n, int64_t rank, uint64_t seed,
                           Threads threads) {
  MatrixProducts products{n, n * static_cast<int64_t>(directions.size()), {}, {}};
  products.times = [&](const float* in, int64_t r, float* out) {
    std::fill_n(out, n * r, 0.0f);
    for (size_t d = 0; d < directions.size(); ++d)
      add_product(*directions[d].rows, nullptr, in + static_cast<int64_t>(d) * n * r, r, out, threads);
  };
  products.transposed = [&](const float* in, int64_t r, float* out) {
    std::fill_n(out, products.columns * r, 0.0f);
    for (size_t d = 0; d < directions.size(); ++d)
      add_product(*directions[d].reversed, &directions[d].rows->scale, in, r, out + static_cast<int64_t>(d) * n * r,
                  threads);
  };
  return leading_columns(products, rank, seed, threads);
}

}  // namespace

Block adjacency_block(const Graph& graph, const BlockOptions& options) {
  const int64_t n = graph.num_nodes();
  const Adjacency& adjacency = graph.adjacency();
  Block block{"adjacency", "rows of the adjacency matrix, length one", {}};
  std::vector<EdgeRows> rows;
  std::optional<Reversed> reversed;
  if (graph.is_directed()) {
    const DirectedEdges& edges = graph.directed_edges();
    block.about = "rows of outgoing beside those of incoming edges, each of length one";
    reversed.emplace(edges);
    rows.push_back(scaled(edges.offsets(), edges.targets(), edges.weights()));
    rows.push_back(scaled(reversed->offsets, reversed->ends, reversed->weights));
  } else {
    rows.push_back(scaled(adjacency.offsets(), adjacency.neighbours(), adjacency.weights()));
  }
  int64_t entries = 0;
  for (const EdgeRows& direction : rows) entries += static_cast<int64_t>(direction.ends.size());
  const auto width = n * static_cast<int64_t>(rows.size());
  if (entries <= options.wide_values / 2 && width <= INT32_MAX) {
    block.rows = std::make_shared<const Features>(sparse_rows(rows, n));
    return block;
  }
  const int64_t rank =
      std::min({options.rank, n, std::max<int64_t>(16, std::min(kWidestReduced, options.most_values / (2 * n)))});
  std::vector<Direction> directions;
  for (size_t d = 0; d < rows.size(); ++d) directions.push_back({&rows[d], &rows[rows.size() - 1 - d]});
  Buffer<float> values = reduced_rows(directions, n, rank, options.seed, options.threads);
  block.rows = std::make_shared<const Features>(Features::dense(n, rank, std::move(values)));
  block.reduced_from = width;
  block.rotated = true;
  block.about += fmt::format("; {} leading directions", rank);
  return block;
}

}  // namespace graphpae
