#include "graphpae/model/masking.h"

#include <torch/torch.h>

#include <numeric>

namespace graphpae {

Masking mask_nodes(int64_t num_nodes, std::vector<int32_t> masked) {
  Masking masking;
  masking.shown.resize(static_cast<size_t>(num_nodes));
  std::iota(masking.shown.begin(), masking.shown.end(), 0);
  for (const int32_t node : masked) masking.shown[node] = kMaskToken;
  masking.masked_indices = torch::tensor(masked, torch::kInt64);
  masking.masked = std::move(masked);
  return masking;
}

void widen(Masking& masking, int64_t num_nodes) {
  for (int64_t i = static_cast<int64_t>(masking.shown.size()); i < num_nodes; ++i)
    masking.shown.push_back(static_cast<int32_t>(i));
}

}  // namespace graphpae
