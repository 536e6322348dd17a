// Twins: nodes that cannot be told apart, because they share their feature row and their neighbourhood. A twin in the
// training part gives away the label of one in the test part.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphpae/core/graph.h"

namespace graphpae {

struct Twins {
  std::vector<int32_t> group;  // [N] a number shared by twins, -1 for a node without any
  int64_t groups = 0;
  int64_t nodes = 0;  // nodes with at least one twin
};

// Nodes without edges all look alike and are not counted.
Twins find_twins(const Graph& graph);

// The test nodes of a split with a twin in its training part, in the order of the test part.
std::vector<int32_t> twins_of_trained(const Twins& twins, const Split& split);

}  // namespace graphpae
