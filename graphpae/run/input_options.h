// How a verb prepares its data for a model: with the threads, kernels and cache of its context, which sees how far the
// positions are ("eigenpairs" of a graph, or "molecules").
#pragma once

#include "graphpae/run/context.h"

namespace graphpae {
struct InputOptions;
struct Settings;
}  // namespace graphpae

namespace graphpae::run {

// The context may go. Data: Graph, GraphSet or ShardSet.
template <class Data>
InputOptions input_options(const Context& context, const Data& data, const Settings& settings);

}  // namespace graphpae::run
