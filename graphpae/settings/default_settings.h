// What a graph is learnt with where neither a recipe nor a file of settings says it. No LibTorch.
#pragma once

#include <string>

#include "graphpae/core/graph.h"
#include "graphpae/settings/settings.h"

namespace graphpae {

// Settings that a look at the size of the graph gives. `base`: those of another method's recipe, of which only the
// features, positions and epochs change. docs/training.md has the rules.
Settings default_settings(const Graph& graph);
Settings default_settings(const Graph& graph, Settings base);

// Seconds that an epoch takes on two idle cores, roughly: the rule behind the number of epochs.
double epoch_seconds(const Graph& graph, int64_t width);

// Those that default_settings() chose, in one line.
std::string describe_defaults(const Settings& settings);

}  // namespace graphpae
