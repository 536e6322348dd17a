#include "graphpae/blocks/graph_blocks.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "graphpae/blocks/adjacency_rows.h"
#include "graphpae/blocks/neighbour_means.h"
#include "graphpae/core/error.h"
#include "graphpae/positions/laplacian_positions.h"

namespace graphpae {
namespace {

std::shared_ptr<const Features> shared(Features rows) { return std::make_shared<const Features>(std::move(rows)); }

Block feature_block(const Graph& graph) {
  // Owned by the graph.
  return {"features", "the features as they are", {std::shared_ptr<const Features>(), &graph.features()}};
}

Block degree_block(const Graph& graph) {
  const int64_t n = graph.num_nodes();
  const Adjacency& adjacency = graph.adjacency();
  std::vector<std::vector<double>> columns;
  if (graph.is_directed()) {
    const DirectedEdges& edges = graph.directed_edges();
    columns.assign(2, std::vector<double>(static_cast<size_t>(n), 0));
    for (int64_t i = 0; i < n; ++i) {
      columns[0][i] = static_cast<double>(edges.row(i).size());
      for (const int32_t target : edges.row(i)) ++columns[1][target];
    }
  } else {
    columns.emplace_back();
    for (int64_t i = 0; i < n; ++i) columns[0].push_back(static_cast<double>(adjacency.degree(i)));
  }
  if (adjacency.has_weights()) {
    columns.emplace_back(static_cast<size_t>(n), 0);
    for (int64_t i = 0; i < n; ++i) {
      for (const float weight : adjacency.row_weights(i)) columns.back()[i] += std::abs(weight);
    }
  }
  const auto width = static_cast<int64_t>(columns.size());
  Buffer<float> values(static_cast<size_t>(n * width));
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t c = 0; c < width; ++c) values[i * width + c] = static_cast<float>(std::log1p(columns[c][i]));
  }
  std::string about = graph.is_directed() ? "log(1 + degree), out and in" : "log(1 + degree)";
  if (adjacency.has_weights()) about += ", log(1 + sum of weights)";
  return {"degree", about, shared(Features::dense(n, width, std::move(values)))};
}

Block position_block(const Graph& graph, const BlockOptions& options) {
  PositionOptions asked;
  const int64_t n = graph.num_nodes();
  asked.k = std::min(options.eigenvectors, n);
  const Positions positions = laplacian_positions(graph.adjacency(), asked, options.threads);
  Buffer<float> values(static_cast<size_t>(n * positions.k));
  for (int64_t c = 0; c < positions.k; ++c) {
    double mean = 0, square = 0;
    for (int64_t i = 0; i < n; ++i) mean += positions.eigenvectors[i * positions.k + c];
    mean /= static_cast<double>(n);
    for (int64_t i = 0; i < n; ++i) square += std::pow(positions.eigenvectors[i * positions.k + c] - mean, 2);
    const double deviation = std::sqrt(square / static_cast<double>(n));
    const double factor = deviation > 1e-9 ? 1 / deviation : 0;
    for (int64_t i = 0; i < n; ++i)
      values[i * positions.k + c] = static_cast<float>((positions.eigenvectors[i * positions.k + c] - mean) * factor);
  }
  return {"positions", fmt::format("{} Laplacian eigenvectors, whitened", positions.k),
          shared(Features::dense(n, positions.k, std::move(values)))};
}

}  // namespace

std::vector<std::string> graph_block_names(const Graph& graph) {
  if (graph.features().columns() == 0) return {"adjacency", "degree", "positions"};
  return {"features", "neighbours", "adjacency", "degree", "positions"};
}

Block graph_block(const Graph& graph, const std::string& name, const BlockOptions& options) {
  const std::vector<std::string> names = graph_block_names(graph);
  if (std::find(names.begin(), names.end(), name) == names.end()) {
    if (name == "features" || name == "neighbours")
      throw usage_error(fmt::format("block {}: the graph has no node features", name));
    throw usage_error(fmt::format("block {}: not of a graph, which has {}", name, fmt::join(names, ", ")));
  }
  if (name == "features") return feature_block(graph);
  if (name == "neighbours") return neighbour_block(graph, options);
  if (name == "adjacency") return adjacency_block(graph, options);
  if (name == "degree") return degree_block(graph);
  return position_block(graph, options);
}

}  // namespace graphpae
