// What the numbers of nodes in an edge list mean: places from 0, places from 1, or names that happen to be numbers.
//
// A wrong guess makes nodes that do not exist, so places need evidence: rows of a file that number the nodes, or ids
// without large gaps.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graphpae/data/edge_list.h"

namespace graphpae {

// What files beside the edges say about the nodes.
struct NodeEvidence {
  int64_t rows = -1;          // of a file whose rows are the nodes in their order; -1: there is none
  std::string rows_of;        // that file
  std::vector<int64_t> keys;  // numbers that rows of other files name
};

// Turns the numbers of `list` (as read, from 0) into what they mean. `base`: the smallest place, 0 or 1, or -1 if that
// is not known; then
//   * with N rows or N nodes announced, ids 1 .. N are places from 1, others places from 0;
//   * without, ids are places from 0 or from 1 if that is the smallest and at least half of the places are used;
//   * else they are names, in ascending order.
// Places from 1 and names stay as names of nodes. Says what it did if that is not places from 0. Throws a data error
// for an id that contradicts a base.
void settle_ids(EdgeList& list, const NodeEvidence& evidence, int64_t base);

// Throws a data error if places go so far beyond the number of edges that they must be names.
void check_largest_id(const EdgeList& list, const std::string& path);

}  // namespace graphpae
