// What the model sees of a sampled part of a graph.
#pragma once

#include "graphpae/data/neighbour_sampler.h"
#include "graphpae/model/inputs.h"

namespace graphpae {

// settings.fanout for each layer, the first for the seeds; all neighbours where it is empty. Throws a usage error if
// there are not as many as layers.
SamplingOptions sampling_options(const Settings& settings);

// What the model sees of a sample.
GraphInput sample_input(const PreparedGraph& graph, const SampledNeighbourhood& sample);

}  // namespace graphpae
