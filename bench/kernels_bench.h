// Fused operations against their plain LibTorch twins, one after the other in one run, forward and backward: time,
// rate, and the share of what a probe of the machine reaches.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "bench/probes.h"
#include "graphpae/core/graph.h"
#include "graphpae/settings/settings.h"

namespace graphpae::bench {

struct KernelRow {
  std::string name;
  std::string direction;     // "forward" or "backward"
  double seconds = 0;        // median
  double plain_seconds = 0;  // of the plain composition; 0: not measured
  double work = 0;           // GFLOP or GB
  bool is_flops = false;     // what `work` counts
  double share = 0;          // of the probe: multiply-adds, or reading from the second-level cache or from memory
  std::string probe;
};

struct KernelsBenchOptions {
  Threads threads;
  int repeat = 7;
  bool plain = true;
};

// One step's operations at the shapes of `graph` and `settings`.
void run_kernels_bench(const Graph& graph, const Settings& settings, const KernelsBenchOptions& options,
                       const Probes& probes, const std::function<void(const KernelRow&)>& report);

}  // namespace graphpae::bench
