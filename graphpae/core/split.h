// Split: the train, validation and test members of one experiment, as node or graph ids.
#pragma once

#include <cstdint>
#include <vector>

namespace graphpae {

struct Split {
  std::vector<int32_t> train;
  std::vector<int32_t> val;
  std::vector<int32_t> test;
  bool operator==(const Split&) const = default;
};

// Throws a data error that names the split, the part and the id if an id is outside 0 .. count-1, is
// repeated, or is in two parts of one split.
void check_splits(const std::vector<Split>& splits, int64_t count);

}  // namespace graphpae
