// What a training run will need, before it starts.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/core/graph_set.h"
#include "graphpae/core/threads.h"
#include "graphpae/data/molecule_shards.h"
#include "graphpae/ops/kernels.h"
#include "graphpae/train/settings.h"

namespace graphpae {

struct Estimate {
  int64_t parameters = 0;
  int64_t bytes = 0;   // resident memory at the peak, the graph included
  double flops = 0;    // of one epoch
  double seconds = 0;  // of one epoch, from a short probe of this machine's speed
};
Estimate estimate(const Graph& graph, const Settings& settings, Kernels kernels, Threads threads);
Estimate estimate(const GraphSet& molecules, const Settings& settings, Kernels kernels, Threads threads);
Estimate estimate(const ShardSet& shards, const Settings& settings, Kernels kernels, Threads threads);

// Of fine-tuning: one pass through the encoder and back for all of the data, no decoders.
Estimate estimate_finetuning(const Graph& graph, const Settings& settings, Kernels kernels, Threads threads);
Estimate estimate_finetuning(const GraphSet& molecules, const Settings& settings, Kernels kernels, Threads threads);

// Names and shapes of all tensors of the model.
std::vector<std::pair<std::string, std::vector<int64_t>>> model_shapes(const Graph& graph, const Settings& settings);
std::vector<std::pair<std::string, std::vector<int64_t>>> model_shapes(const GraphSet& molecules,
                                                                       const Settings& settings);
std::vector<std::pair<std::string, std::vector<int64_t>>> model_shapes(const ShardSet& shards,
                                                                       const Settings& settings);

// Throws what training on the data with these settings would: contradictions, no features, nothing to mask.
void check_trainable(const Graph& graph, const Settings& settings);
void check_trainable(const GraphSet& molecules, const Settings& settings);
void check_trainable(const ShardSet& shards, const Settings& settings);

}  // namespace graphpae
