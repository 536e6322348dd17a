#include "graphpae/positions/relative_distances.h"

#include <fmt/format.h>

#include <algorithm>

#include "graphpae/core/error.h"
#include "graphpae/kernels/float64_kernels.h"

namespace graphpae {
namespace {

constexpr int64_t kEdgesPerRange = 8192;

void check_sizes(const PositionTable& positions, const EdgeEnds& edges) {
  if (edges.sources.size() != edges.targets.size()) {
    throw usage_error(fmt::format("distances: {} sources but {} targets", edges.sources.size(), edges.targets.size()));
  }
  if (positions.k < 1 || static_cast<int64_t>(positions.values.size()) != positions.num_nodes() * positions.k) {
    throw usage_error(
        fmt::format("distances: {} values are no table of {} columns", positions.values.size(), positions.k));
  }
}

std::vector<float> measure(const PositionTable& positions, const EdgeEnds& edges, Threads threads,
                           const kernels::MovedRows& moved = {}) {
  const int64_t size = edges.size();
  std::vector<float> distances(size);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads.count)
  for (int64_t first = 0; first < size; first += kEdgesPerRange) {
    kernels::edge_distances(positions.values.data(), positions.k, edges.sources.data(), edges.targets.data(), first,
                            std::min(size, first + kEdgesPerRange), distances.data(), moved);
  }
  return distances;
}

}  // namespace

std::vector<float> relative_distances(const PositionTable& positions, const EdgeEnds& edges, Threads threads) {
  check_sizes(positions, edges);
  return measure(positions, edges, threads);
}

std::vector<float> corrupted_distances(const PositionTable& positions, const EdgeEnds& edges,
                                       const PositionNoise& noise, std::span<const float> clean, Threads threads) {
  check_sizes(positions, edges);
  const int64_t masked = static_cast<int64_t>(noise.nodes.size()), k = positions.k;
  if (static_cast<int64_t>(clean.size()) != edges.size()) {
    throw usage_error(fmt::format("distances: {} clean distances for {} edges", clean.size(), edges.size()));
  }
  if (static_cast<int64_t>(noise.values.size()) != masked * k) {
    throw usage_error(
        fmt::format("distances: {} noise values for {} nodes and {} columns", noise.values.size(), masked, k));
  }
  std::vector<int32_t> row_of(positions.num_nodes(), -1);
  std::vector<double> rows(noise.values.begin(), noise.values.end());
  for (int64_t m = 0; m < masked; ++m) {
    row_of[noise.nodes[m]] = static_cast<int32_t>(m);
    for (int64_t j = 0; j < k; ++j) rows[m * k + j] += positions.values[noise.nodes[m] * k + j];
  }
  return measure(positions, edges, threads, {row_of.data(), rows.data(), clean.data()});
}

}  // namespace graphpae
