// What GraphMAE hides in a step, as released.
#pragma once

#include <cstdint>
#include <span>

#include "graphpae/core/rng.h"
#include "graphpae/model/graph_input.h"

namespace graphpae::graphmae {

// Orders in which nodes are taken, as three permutations.
struct Orders {
  std::vector<int32_t> nodes;   // of all N: the first int(r N) are masked
  std::vector<int32_t> masked;  // of the M masked ones: the first int((1-p) M) show the token, the last int(p M) others
  std::vector<int32_t> donors;  // of all N: the first int(p M) are shown, one after the other
};

// Masked nodes of one graph for mask ratio r and replace ratio p. Rounding can leave one masked node as it is.
Masking mask_by_orders(const Orders& orders, double mask_ratio, double replace_ratio);
Masking draw_nodes(int64_t num_nodes, double mask_ratio, double replace_ratio, const Rng& rng);

// Atoms of molecules offsets[g] .. offsets[g+1]: int(r n + 1) of each, all showing the token. The first molecule has
// number `first` in the batch.
Masking draw_atoms(std::span<const int64_t> offsets, int64_t first, double mask_ratio, const Rng& rng);

}  // namespace graphpae::graphmae
