// Masking: which nodes hide their features, and what they show instead.
#pragma once

#include <torch/types.h>

#include <cstdint>
#include <vector>

namespace graphpae {

// What a node with a hidden feature row shows instead of a row of X.
inline constexpr int32_t kMaskToken = -1;

struct Masking {
  std::vector<int32_t> masked;   // [M] distinct nodes, the set V~
  std::vector<int32_t> shown;    // [N] the row of X a node shows, or kMaskToken; i itself if it is not masked
  torch::Tensor masked_indices;  // [M] int64, as `masked`
};

// All masked nodes show the token.
Masking mask_nodes(int64_t num_nodes, std::vector<int32_t> masked);

// The same among more nodes, which show themselves.
void widen(Masking& masking, int64_t num_nodes);

}  // namespace graphpae
