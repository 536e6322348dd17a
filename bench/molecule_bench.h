// Training steps on batches of molecules: fused operations against the plain LibTorch composition in one run, and the
// dense products of a step at their shapes against oneDNN.
#pragma once

#include <cstdint>

#include "graphpae/core/graph_set.h"
#include "graphpae/core/threads.h"
#include "graphpae/settings/settings.h"

namespace graphpae::bench {

struct MoleculeBench {
  int64_t molecules = 0, batch = 0;    // in the set, per step
  double atoms = 0, edges = 0;         // per molecule, edges directed
  double step_ms = 0, plain_ms = 0;    // medians of a step
  double dense_gflop = 0;              // multiply-adds of the dense products of a fused step, twice their number
  double dense_ms = 0, onednn_ms = 0;  // the products of a step alone: ours and oneDNN's
  double molecules_per_second() const { return static_cast<double>(batch) / step_ms * 1e3; }
};

// `steps` of each after a few to warm up; plain_ms is 0 without `reference`.
MoleculeBench run_molecule_bench(const GraphSet& set, const Settings& settings, int steps, bool reference,
                                 Threads threads);

// Drugs of the size of those in BACE, for when the real set is not there.
GraphSet bench_molecules(Threads threads);

}  // namespace graphpae::bench
