// How a verb prepares its data for a model: with the threads, kernels and cache of its context, which sees how far the
// positions are ("eigenpairs" of a graph, or "molecules").
#pragma once

#include "graphpae/run/context.h"

namespace graphpae {
class Graph;
class GraphSet;
class ShardSet;
struct InputOptions;
struct Settings;
}  // namespace graphpae

namespace graphpae::run {

// The context may go.
InputOptions input_options(const Context& context, const Graph& graph, const Settings& settings);
InputOptions input_options(const Context& context, const GraphSet& molecules, const Settings& settings);
InputOptions input_options(const Context& context, const ShardSet& shards, const Settings& settings);

}  // namespace graphpae::run
