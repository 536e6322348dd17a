#include "graphpae/positions/position_batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>

#include "graphpae/core/error.h"
#include "graphpae/positions/solve_graph.h"

namespace graphpae {
namespace {

constexpr int64_t kGraphsPerTask = 256;

// The rows of a small graph, with memory that is used again for the next one.
class SmallGraph {
 public:
  void assign(std::span<const Edge> edges, int64_t num_nodes, int64_t graph) {
    offsets_.assign(num_nodes + 1, 0);
    for (const Edge& e : edges) {
      if (e.src < 0 || e.dst < 0 || e.src >= num_nodes || e.dst >= num_nodes) {
        throw data_error(
            fmt::format("graph {}: edge ({}, {}) is outside its {} nodes", graph, e.src, e.dst, num_nodes));
      }
      if (e.src == e.dst) continue;
      ++offsets_[e.src + 1];
      ++offsets_[e.dst + 1];
    }
    for (int64_t i = 0; i < num_nodes; ++i) offsets_[i + 1] += offsets_[i];
    neighbours_.resize(offsets_[num_nodes]);
    next_.assign(offsets_.begin(), offsets_.end());
    for (const Edge& e : edges) {
      if (e.src == e.dst) continue;
      neighbours_[next_[e.src]++] = e.dst;
      neighbours_[next_[e.dst]++] = e.src;
    }
    // Rows ascending and without repeats, moved together.
    int64_t begin = 0, written = 0;
    for (int64_t i = 0; i < num_nodes; ++i) {
      const auto first = neighbours_.begin() + begin, last = neighbours_.begin() + offsets_[i + 1];
      begin = offsets_[i + 1];
      std::sort(first, last);
      const auto end = std::unique(first, last);
      std::copy(first, end, neighbours_.begin() + written);
      written += end - first;
      offsets_[i + 1] = written;
    }
    neighbours_.resize(written);
  }
  GraphView view() const { return {offsets_, neighbours_}; }

 private:
  std::vector<int64_t> offsets_, next_;
  std::vector<int32_t> neighbours_;
};

}  // namespace

BatchPositions position_batch(const GraphBatch& batch, const PositionOptions& options, Threads threads,
                              const std::function<bool(int64_t)>& progress) {
  check_options(options);
  if (options.extend) throw usage_error("positions: extend is not possible for a set of graphs");
  if (options.solver == PositionSolver::slepc)
    throw usage_error("positions: the solver slepc is not for a set of graphs");
  const int64_t graphs = batch.num_graphs(), k = options.k;
  BatchPositions result;
  result.k = k;
  result.eigenvalues.resize(graphs * k);
  result.residuals.resize(graphs * k);
  result.computed.resize(graphs);
  result.eigenvectors.resize(batch.node_offsets.back() * k);
  std::atomic<int64_t> done = 0, cut = 0, unconverged = 0;
  std::atomic<bool> stop = false;

  parallel_tasks(threads, (graphs + kGraphsPerTask - 1) / kGraphsPerTask, [&](int64_t task) {
    SmallGraph graph;
    const int64_t first = task * kGraphsPerTask, last = std::min(graphs, first + kGraphsPerTask);
    for (int64_t g = first; g < last && !stop; ++g) {
      const int64_t nodes = batch.node_offsets[g + 1] - batch.node_offsets[g];
      const int64_t edges = batch.edge_offsets[g + 1] - batch.edge_offsets[g];
      graph.assign(batch.edges.subspan(batch.edge_offsets[g], edges), nodes, g);
      const Positions positions = solve_graph(graph.view(), options, Threads{1}, {});
      std::copy(positions.eigenvalues.begin(), positions.eigenvalues.end(), result.eigenvalues.begin() + g * k);
      std::copy(positions.residuals.begin(), positions.residuals.end(), result.residuals.begin() + g * k);
      std::copy(positions.eigenvectors.begin(), positions.eigenvectors.end(),
                result.eigenvectors.begin() + batch.node_offsets[g] * k);
      result.computed[g] = static_cast<int32_t>(positions.computed);
      cut += positions.cuts_eigenspace;
      unconverged += positions.status != PositionStatus::converged;
    }
    done += last - first;
    if (progress) {
#pragma omp critical(graphpae_position_batch)
      if (!progress(done)) stop = true;
    }
  });
  if (stop) throw Error(ErrorKind::interrupted, "positions: interrupted");
  result.cut_graphs = cut;
  result.unconverged_graphs = unconverged;
  result.padded_graphs =
      std::count_if(result.computed.begin(), result.computed.end(), [&](int32_t c) { return c < k; });
  return result;
}

}  // namespace graphpae
