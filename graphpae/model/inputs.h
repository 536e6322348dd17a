// From a graph or molecules and settings to what the model sees.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/core/graph_set.h"
#include "graphpae/data/chemistry.h"
#include "graphpae/data/neighbour_sampler.h"
#include "graphpae/model/encoder.h"
#include "graphpae/model/molecule_batch.h"
#include "graphpae/model/relative_weights.h"
#include "graphpae/positions/laplacian_positions.h"
#include "graphpae/settings/input_settings.h"
#include "graphpae/settings/settings.h"

namespace graphpae {

struct InputOptions {
  Threads threads = all_threads();
  Kernels kernels = Kernels::fused;
  std::string cache;                             // directory for positions; empty: none
  PositionCallback progress;                     // of the eigen-solver; of molecules, `converged` are done
  std::function<void(const std::string&)> note;  // one line for the user
};

// Laplacian positions U [N,K] float64, computed or from the cache. Throws a numerical error if the eigen-solver does
// not converge.
torch::Tensor make_positions(const Graph& graph, const Settings& settings, const InputOptions& options = {});

// A graph and what the model knows of its nodes. Positions are computed or from the cache.
struct PreparedGraph {
  const Graph* graph = nullptr;                         // outlives this
  std::shared_ptr<const Features> features;             // [N,F] row-normalised if settings say so
  torch::Tensor positions;                              // [N,K] float64; undefined without positions
  std::shared_ptr<const RelativeWeights> weights = {};  // null: all edges count the same
  Threads threads;
  Kernels kernels = Kernels::fused;
};

// `graph` is as the model sees it (settings/feature_plan.h). Throws a data error for a graph without features and what
// make_positions throws.
PreparedGraph prepare(const Graph& graph, const Settings& settings, const InputOptions& options = {});

// All of it at once.
GraphInput whole_input(const PreparedGraph& graph);
// The same; the graph is not needed any more.
GraphInput make_input(const Graph& graph, const Settings& settings, const InputOptions& options = {});

// What the model sees of a sample.
GraphInput sample_input(const PreparedGraph& graph, const SampledNeighbourhood& sample);

// settings.fanout for each layer, the first for the seeds; all neighbours where it is empty. Throws a usage error if
// there are not as many as layers.
SamplingOptions sampling_options(const Settings& settings);

InputShape input_shape(const Graph& graph);

// The same for molecules: prepared once, batches are made from them (model/molecule_batch.h). Throws a data error for a
// set without structure or codes that no featurizer makes, and a numerical error as above.
std::shared_ptr<const MoleculeInputs> prepare(const GraphSet& set, const Settings& settings,
                                              const InputOptions& options = {});

InputShape input_shape(const GraphSet& set);

// The codes of a featurizer, and the mask token.
InputShape input_shape(Featurizer featurizer);

}  // namespace graphpae
