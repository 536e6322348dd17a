// The largest batch that training on molecules can meet.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <vector>

#include "graphpae/core/graph_set.h"

namespace graphpae {

inline int64_t atoms_of(const GraphSet& set, int64_t molecule) {
  return set.parts().node_offsets[molecule + 1] - set.parts().node_offsets[molecule];
}

// The `size` molecules with most atoms, 0: all; those without atoms are left out.
inline std::vector<int32_t> largest_batch(const GraphSet& set, int64_t size) {
  std::vector<int32_t> order(static_cast<size_t>(set.num_graphs()));
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](int32_t a, int32_t b) { return atoms_of(set, a) > atoms_of(set, b); });
  if (size > 0 && static_cast<size_t>(size) < order.size()) order.resize(static_cast<size_t>(size));
  while (!order.empty() && atoms_of(set, order.back()) == 0) order.pop_back();
  return order;
}

}  // namespace graphpae
