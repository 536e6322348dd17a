// From a graph and settings to what the model sees.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/model/encoder.h"
#include "graphpae/positions/laplacian_positions.h"
#include "graphpae/train/settings.h"

namespace graphpae {

// Settings of positions as options of the eigen-solver.
PositionOptions position_options(const Settings& settings);

struct InputOptions {
  Threads threads = all_threads();
  Kernels kernels = Kernels::fused;
  std::string cache;                             // directory for positions; empty: none
  PositionCallback progress;                     // of the eigen-solver
  std::function<void(const std::string&)> note;  // one line for the user
};

// The graph with its positions, computed or from the cache. Throws a data error for a graph without features and a
// numerical error if the eigen-solver does not converge.
GraphInput make_input(const Graph& graph, const Settings& settings, const InputOptions& options = {});

InputShape input_shape(const Graph& graph);

}  // namespace graphpae
