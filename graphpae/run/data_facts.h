// What a run learnt from, in numbers, for its page.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "graphpae/core/graph.h"
#include "graphpae/core/graph_set.h"
#include "graphpae/data/molecule_shards.h"

namespace graphpae::run {

// In the order of the page, with the names that `info --json` has. What is not there, labels or features, is left out.
nlohmann::ordered_json data_facts(const Graph& graph);
nlohmann::ordered_json data_facts(const GraphSet& molecules);
nlohmann::ordered_json data_facts(const ShardSet& shards);

}  // namespace graphpae::run
