// What settings and data say about the input of a model; no LibTorch.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graphpae/core/graph_set.h"
#include "graphpae/data/chemistry.h"
#include "graphpae/positions/laplacian_positions.h"
#include "graphpae/settings/settings.h"

namespace graphpae {

// Settings of positions as options of the eigen-solver.
PositionOptions position_options(const Settings& settings);

// The settings that positions depend on, with their values as text: what a file of positions was made with.
std::vector<std::pair<std::string, std::string>> position_settings(const Settings& settings);

// Throws a usage error if the settings name another encoder than the data need: gat for one graph, gated_gcn for
// molecules.
void check_encoder(const Settings& settings, EncoderKind needed);

// Which featurizer made the codes of the set, told by the number of their columns. Throws a data error for others.
Featurizer featurizer_of(const GraphSet& set);

}  // namespace graphpae
