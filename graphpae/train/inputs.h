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

// Laplacian positions U [N,K] float64, computed or from the cache. Throws a numerical error if the eigen-solver does
// not converge.
torch::Tensor make_positions(const Graph& graph, const Settings& settings, const InputOptions& options = {});

// The graph with its positions, computed or from the cache. Throws a data error for a graph without features and
// what make_positions throws.
GraphInput make_input(const Graph& graph, const Settings& settings, const InputOptions& options = {});

InputShape input_shape(const Graph& graph);

}  // namespace graphpae
