// Several blocks of molecules together: each has its own probe for every task, and their predictions are added with
// weights that the validation part chooses, task by task, as combination.h does for nodes. Test labels are not seen.
// Scores of classes are first divided by their deviation over validation and test rows, since only their order means
// something.
#pragma once

#include <span>

#include "graphpae/evaluate/graph_protocols.h"

namespace graphpae {

// Of members that were evaluated on `split` under the strict protocol. A task that the validation part cannot score
// gives equal weights.
GraphScores combine_graphs(std::span<const GraphScores* const> members, const GraphTargets& targets, const Split& split,
                           GraphMetric metric);

}  // namespace graphpae
