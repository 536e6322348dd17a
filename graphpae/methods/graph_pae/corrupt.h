// Data corruption, Section 4.1: which nodes are masked, what their features are replaced by, and how far their
// positions are shaken. One draw serves features and positions.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

#include "graphpae/core/rng.h"
#include "graphpae/model/graph_input.h"
#include "graphpae/settings/settings.h"

namespace graphpae {

struct Corruption : Masking {
  torch::Tensor offsets;  // [M,K] float64, added to the positions of `masked`, Eq. (2); may be undefined
};

// floor(r N) nodes of a random permutation; floor(replace_ratio M) of them show the features of a random node instead
// of the token; offsets are uniform in (-mu_p, mu_p). A pure function of its arguments. K = 0: no offsets.
Corruption draw_corruption(int64_t num_nodes, int64_t k, const Settings& settings, const Rng& rng);

// That of nodes first .. first + count, numbered anew. A donor from outside is replaced by one from inside.
Corruption part_of(const Corruption& corruption, int64_t first, int64_t count);

// The corruption with given masked nodes and offsets, all of them showing the token.
Corruption make_corruption(int64_t num_nodes, std::vector<int32_t> masked, torch::Tensor offsets);

// P~: distances between corrupted positions, in the precision of the clean ones. [E]
torch::Tensor corrupted_distances(const GraphInput& input, const Corruption& corruption);

}  // namespace graphpae
