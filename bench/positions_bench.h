// Positions against ARPACK, as SciPy's eigsh drives it, on the same graphs in one run: time, residuals, completeness,
// memory, and the bandwidth of the sparse product against what the machine can read.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graphpae/core/threads.h"

namespace graphpae::bench {

struct PositionsBenchOptions {
  std::string data;                 // directory with squirrel/ and fb100_cornell5/, or ""
  std::vector<std::string> graphs;  // of squirrel, cornell5, b, c, d, large
  Threads threads;
  int repeat = 3;  // of our solver; ARPACK runs once
  bool arpack = true;
  double tolerance = 1e-5;
};

struct PositionsBenchRow {
  std::string graph;
  int64_t nodes = 0, directed_edges = 0, k = 0;
  bool present = true;  // false: its data are not there
  double seconds = 0;   // median
  double max_residual = 0;
  int64_t converged = 0;
  int64_t bytes = 0;            // of memory that our solver needs beyond the graph, result included
  double product_gb_per_s = 0;  // of one product with 16 vectors, counting gathered rows
  double stream_gb_per_s = 0;   // reading a large array with the same threads
  double arpack_seconds = 0;
  double arpack_residual = 0;
  int64_t arpack_bytes = 0;  // the same of ARPACK, its matrix included
  double arpack_misses = 0;  // how far an eigenvalue of ARPACK lies above ours: above the tolerance, it missed some
  double ours_misses = 0;    // the same the other way
};

std::vector<std::string> positions_bench_graphs();
std::vector<PositionsBenchRow> run_positions_bench(const PositionsBenchOptions& options,
                                                   const std::function<void(const PositionsBenchRow&)>& report);

}  // namespace graphpae::bench
