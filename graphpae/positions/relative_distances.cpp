#include "graphpae/positions/relative_distances.h"

#include <fmt/format.h>

#include <algorithm>

#include "graphpae/core/error.h"
#include "graphpae/kernels/edge_distance.h"

namespace graphpae {
namespace {

constexpr int64_t kEdgesPerRange = 8192;

void check_sizes(const PositionTable& positions, const DirectedEdges& edges) {
  if (edges.sources.size() != edges.targets.size()) {
    throw usage_error(fmt::format("distances: {} sources but {} targets", edges.sources.size(), edges.targets.size()));
  }
  if (positions.k < 1 || static_cast<int64_t>(positions.values.size()) != positions.num_nodes() * positions.k) {
    throw usage_error(
        fmt::format("distances: {} values are no table of {} columns", positions.values.size(), positions.k));
  }
}

}  // namespace

std::vector<float> relative_distances(const PositionTable& positions, const DirectedEdges& edges, Threads threads) {
  check_sizes(positions, edges);
  const int64_t size = edges.size();
  std::vector<float> distances(size);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads.count)
  for (int64_t first = 0; first < size; first += kEdgesPerRange) {
    kernels::edge_distances(positions.values.data(), positions.k, edges.sources.data(), edges.targets.data(), first,
                            std::min(size, first + kEdgesPerRange), distances.data());
  }
  return distances;
}

std::vector<float> corrupted_distances(const PositionTable& positions, const DirectedEdges& edges,
                                       const PositionNoise& noise, std::span<const float> clean, Threads threads) {
  check_sizes(positions, edges);
  const int64_t size = edges.size(), masked = static_cast<int64_t>(noise.nodes.size()), k = positions.k;
  if (static_cast<int64_t>(clean.size()) != size) {
    throw usage_error(fmt::format("distances: {} clean distances for {} edges", clean.size(), size));
  }
  if (static_cast<int64_t>(noise.values.size()) != masked * k) {
    throw usage_error(
        fmt::format("distances: {} noise values for {} nodes and {} columns", noise.values.size(), masked, k));
  }
  // Row 0 of the kernel's noise is zero, for the end of an edge that is not masked.
  std::vector<int32_t> row_of_node(positions.num_nodes(), 0);
  std::vector<double> rows((masked + 1) * k, 0.0);
  std::copy(noise.values.begin(), noise.values.end(), rows.begin() + k);
  for (int64_t m = 0; m < masked; ++m) row_of_node[noise.nodes[m]] = static_cast<int32_t>(m + 1);

  std::vector<float> distances(size);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads.count)
  for (int64_t first = 0; first < size; first += kEdgesPerRange) {
    kernels::edge_distances_with_noise(positions.values.data(), k, edges.sources.data(), edges.targets.data(),
                                       row_of_node.data(), rows.data(), clean.data(), first,
                                       std::min(size, first + kEdgesPerRange), distances.data());
  }
  return distances;
}

}  // namespace graphpae
