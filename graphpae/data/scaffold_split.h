// The scaffold split of OGB and MoleculeNet: molecules that share a scaffold stay together, so that the test set holds
// scaffolds never trained on.
#pragma once

#include <optional>
#include <span>
#include <string>

#include "graphpae/core/graph_set.h"
#include "graphpae/core/split.h"
#include "graphpae/core/threads.h"

namespace graphpae {

// 80 % of all molecules for train, 10 % for val, the rest for test. Groups of equal scaffolds, the largest first and
// among equally large ones the one whose first member comes last, each go as a whole to train if it still fits its
// share, else to val if train and val together still fit theirs, else to test. Ids ascend in each part; a row without a
// scaffold (murcko_scaffolds found no molecule) is in none.
Split scaffold_split(std::span<const std::optional<std::string>> scaffolds);

// The same by the Murcko scaffolds of the set's texts; rows without atoms are in no part. Throws a data error if the
// set has no texts.
Split scaffold_split(const GraphSet& set, Threads threads);

}  // namespace graphpae
