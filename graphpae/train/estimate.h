// What a training run will need, and whether it can work, before it starts. `Data` is Graph, GraphSet or ShardSet.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/core/graph_set.h"
#include "graphpae/core/threads.h"
#include "graphpae/data/molecule_shards.h"
#include "graphpae/ops/kernels.h"
#include "graphpae/settings/finetune_settings.h"
#include "graphpae/settings/settings.h"

namespace graphpae {

class Objective;

using NamedShapes = std::vector<std::pair<std::string, std::vector<int64_t>>>;

struct Estimate {
  int64_t parameters = 0;
  int64_t bytes = 0;   // of this process at the peak, the data included
  double seconds = 0;  // of one epoch; 0: a step does not fit into memory and was not tried
  int64_t epochs = 0;
  NamedShapes shapes;  // what the model sees, and all tensors of its method, or, for fine-tuning, of the encoder alone
  double load = 0;     // how many processes ran or waited to run, over the minute before a step was tried
};

// From a few real steps of the model that would be trained, with random positions where real ones would have to be
// solved for. If training_bytes() exceeds what is available, no step is tried.
template <class Data>
Estimate estimate(const Data& data, const Settings& settings, Kernels kernels, Threads threads);
// The same of fine-tuning on a graph or molecules.
template <class Data>
Estimate estimate_finetuning(const Data& data, std::shared_ptr<Objective> objective, const Settings& settings,
                             const FinetuneSettings& finetune);

// Memory of pre-training at the peak by a formula, about right within a factor of two; nothing is run.
template <class Data>
int64_t training_bytes(const Data& data, const Settings& settings, Kernels kernels);

// The `size` molecules with most atoms, 0: all; those without atoms are left out.
std::vector<int32_t> largest_batch(const GraphSet& set, int64_t size);

// Throws what training on the data with these settings would: contradictions, no features, nothing to mask.
void check_trainable(const Graph& graph, const Settings& settings);
void check_trainable(const GraphSet& molecules, const Settings& settings);
void check_trainable(const ShardSet& shards, const Settings& settings);

}  // namespace graphpae
