#include "bench/positions_bench.h"

#include <algorithm>
#include <filesystem>
#include <numeric>

#include "bench/arpack_reference.h"
#include "bench/bench_graphs.h"
#include "bench/measure.h"
#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/data/load.h"
#include "graphpae/positions/laplacian_positions.h"
#include "graphpae/positions/walk_operator.h"

namespace graphpae::bench {
namespace {

struct Job {
  Adjacency graph;
  int64_t k = 0;
};

Job real_graph(const PositionsBenchOptions& options, const std::string& name, int64_t k) {
  const std::string path = options.data + "/" + name;
  if (options.data.empty() || !std::filesystem::exists(path)) return {};
  LoadOptions load_options;
  load_options.threads = options.threads;
  return {load(path, load_options).graph().adjacency(), k};
}

// b, c and d have the shapes of Penn94, arXiv and a larger social network; `large` that of ogbn-products.
Job make_job(const PositionsBenchOptions& options, const std::string& name) {
  if (name == "squirrel") return real_graph(options, "squirrel", 50);
  if (name == "cornell5") return real_graph(options, "fb100_cornell5", 200);
  CommunityGraph shape;
  int64_t k = 50;
  if (name == "b") {
    shape.nodes = 41554;
    shape.edges = 1362000;
    k = 200;
  } else if (name == "c") {
    shape.nodes = 169343;
    shape.edges = 980000;
    shape.small_components = 20;
    k = 100;
  } else if (name == "d") {
    shape.nodes = 245000;
    shape.edges = 5000000;
  } else if (name == "large") {
    shape.nodes = 2450000;
    shape.edges = 59000000;
    shape.communities = 500;
  } else {
    throw usage_error("unknown graph '" + name + "'; squirrel, cornell5, b, c, d and large are known");
  }
  return {generate(shape, options.threads), k};
}

// How far resident memory rises above what it is now.
class MemoryGrowth {
 public:
  MemoryGrowth() { restart_peak_memory(); }
  int64_t bytes() const { return peak_memory() - before_; }

 private:
  int64_t before_ = resident_memory();
};

// GB/s of reading 512 MB with all threads.
double stream_bandwidth(Threads threads) {
  const std::vector<float> values(1 << 27, 1.0f);
  std::vector<float> sums(64);
  const double seconds = median_seconds(5, [&] {
    parallel_tasks(threads, 64, [&](int64_t task) {
      const auto [first, last] = part_of(static_cast<int64_t>(values.size()), task, 64);
      float parts[16] = {};
      for (int64_t i = first; i < last; i += 16) {
        for (int c = 0; c < 16; ++c) parts[c] += values[i + c];
      }
      sums[task] = std::accumulate(parts, parts + 16, 0.0f);
    });
  });
  return static_cast<double>(values.size() * sizeof(float)) / seconds / 1e9;
}

// GB/s of products with 16 float32 vectors: every neighbour's row is read, every row written.
double product_bandwidth(const Adjacency& graph, Threads threads) {
  for (int64_t i = 0; i < graph.num_nodes(); ++i) {
    if (graph.degree(i) == 0) return 0;
  }
  const WalkOperator walk(view_of(graph), threads);
  PanelMatrix<float> panels(graph.num_nodes(), 2), work(graph.num_nodes(), 2);
  std::fill_n(panels.panel(0), graph.num_nodes() * kPanel, 1.0f);
  constexpr int kDegree = 4;
  const ChebyshevFilter filter(-1.0, 0.5, kDegree);
  const double seconds =
      median_seconds(5, [&] { walk.apply(filter, static_cast<const float*>(panels.panel(0)), panels.panel(1), work); });
  const double row = kPanel * sizeof(float);
  const double bytes = static_cast<double>(graph.neighbours().size()) * (row + sizeof(int32_t)) +
                       static_cast<double>(graph.num_nodes()) * 3 * row;
  return kDegree * bytes / seconds / 1e9;
}

void compare_with_arpack(const Job& job, const PositionsBenchOptions& options, const Positions& ours,
                         PositionsBenchRow& row) {
  ArpackResult arpack;
  const MemoryGrowth growth;
  row.arpack_seconds = median_seconds(1, [&] { arpack = arpack_smallest(job.graph, job.k, options.tolerance); });
  row.arpack_bytes = growth.bytes();
  row.arpack_residual = arpack.max_residual;
  for (int64_t j = 0; j < job.k; ++j) {
    row.arpack_misses = std::max(row.arpack_misses, arpack.eigenvalues[j] - ours.eigenvalues[j]);
    row.ours_misses = std::max(row.ours_misses, ours.eigenvalues[j] - arpack.eigenvalues[j]);
  }
}

}  // namespace

std::vector<std::string> positions_bench_graphs() { return {"squirrel", "cornell5", "b", "c"}; }

std::vector<PositionsBenchRow> run_positions_bench(const PositionsBenchOptions& options,
                                                   const std::function<void(const PositionsBenchRow&)>& report) {
  const double stream = stream_bandwidth(options.threads);
  std::vector<PositionsBenchRow> rows;
  for (const std::string& name : options.graphs) {
    const Job job = make_job(options, name);
    PositionsBenchRow row;
    row.graph = name;
    row.present = job.k > 0;
    if (row.present) {
      row.nodes = job.graph.num_nodes();
      row.directed_edges = static_cast<int64_t>(job.graph.neighbours().size());
      row.k = job.k;
      PositionOptions position_options;
      position_options.k = job.k;
      position_options.tolerance = options.tolerance;
      Positions positions;
      const MemoryGrowth growth;
      row.seconds = median_seconds(options.repeat, [&] {
        positions = {};  // the result of the run before is not part of the memory of this one
        positions = laplacian_positions(job.graph, position_options, options.threads);
      });
      row.bytes = growth.bytes();
      row.max_residual = positions.max_residual();
      row.converged = positions.status == PositionStatus::converged ? positions.converged : 0;
      row.stream_gb_per_s = stream;
      row.product_gb_per_s = product_bandwidth(job.graph, options.threads);
      if (options.arpack) compare_with_arpack(job, options, positions, row);
    }
    if (report) report(row);
    rows.push_back(row);
  }
  return rows;
}

}  // namespace graphpae::bench
