#include <algorithm>

#include "graphpae/methods/graphmae/graphmae.h"

namespace graphpae::graphmae {
namespace {

Rng part(const Rng& rng, uint64_t number) { return Rng(rng.bits(2 * number), rng.bits(2 * number + 1)); }

// Products are truncated, as released.
int64_t share(double ratio, int64_t count) { return static_cast<int64_t>(ratio * static_cast<double>(count)); }

}  // namespace

Masking mask_by_orders(const Orders& orders, double mask_ratio, double replace_ratio) {
  const auto n = static_cast<int64_t>(orders.nodes.size());
  const int64_t count = share(mask_ratio, n), replaced = share(replace_ratio, count);
  Masking masking = mask_nodes(n, {orders.nodes.begin(), orders.nodes.begin() + count});
  if (replaced == 0) return masking;
  const auto node_at = [&](int64_t place) { return masking.masked[static_cast<size_t>(orders.masked[place])]; };
  for (int64_t m = share(1 - replace_ratio, count); m < count; ++m) masking.shown[node_at(m)] = node_at(m);
  for (int64_t k = 0; k < replaced; ++k) masking.shown[node_at(count - replaced + k)] = orders.donors[k];
  return masking;
}

Masking draw_nodes(int64_t num_nodes, double mask_ratio, double replace_ratio, const Rng& rng) {
  const auto permutation = [&](uint64_t number, int64_t count) {
    return part(rng, number).permutation(static_cast<int32_t>(count));
  };
  return mask_by_orders(
      {permutation(0, num_nodes), permutation(1, share(mask_ratio, num_nodes)), permutation(2, num_nodes)}, mask_ratio,
      replace_ratio);
}

Masking draw_atoms(std::span<const int64_t> offsets, int64_t first, double mask_ratio, const Rng& rng) {
  std::vector<int32_t> masked;
  for (size_t g = 0; g + 1 < offsets.size(); ++g) {
    const int64_t atoms = offsets[g + 1] - offsets[g];
    const auto count = std::min(atoms, static_cast<int64_t>(mask_ratio * static_cast<double>(atoms) + 1));
    const std::vector<int32_t> order =
        part(rng, static_cast<uint64_t>(first) + g).permutation(static_cast<int32_t>(atoms));
    for (int64_t k = 0; k < count; ++k) masked.push_back(static_cast<int32_t>(offsets[g]) + order[k]);
  }
  return mask_nodes(offsets.back(), std::move(masked));
}

}  // namespace graphpae::graphmae
