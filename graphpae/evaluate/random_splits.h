// Random splits: the labelled nodes of a graph shared out to train, val and test, several times.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "graphpae/core/split.h"

namespace graphpae {

struct RandomSplitOptions {
  double train = 0.6, val = 0.2, test = 0.2;  // shares, each above 0, together at most 1
  int64_t count = 10;
  bool stratified = false;  // keep the shares within every class
  uint64_t seed = 0;
};

// "60/20/20", percent of train, val and test as whole or decimal numbers; what they leave of 100 is in no part. A
// number of splits may come first: "5x60/20/20". The other options keep their defaults. Throws a usage error that
// quotes the text if it is anything else, a share is zero or the sum is over 100.
RandomSplitOptions parse_split_shares(const std::string& text);

// options.count splits of the labelled nodes; labels [N], N < 2^31, unlabelled below 0. Split k depends on the
// labels, the shares, the seed and k only. Ids ascend within a part.
//
// Sizes are the same in every split: a share of the nodes (stratified: of each class) rounded down or up. Who is
// rounded up is the part that is furthest below its share, in all classes so far; train before val before test if
// they are level. Thus small classes together keep the shares too.
//
// Throws a usage error if shares or count are out of range, a data error if a part would be empty.
std::vector<Split> random_splits(std::span<const int32_t> labels, const RandomSplitOptions& options);

// The splits without unlabelled ids; labels [N]. Throws a data error as check_splits does.
std::vector<Split> labelled_only(const std::vector<Split>& splits, std::span<const int32_t> labels);

}  // namespace graphpae
