// The map and the page of a run, made by the verbs that train or evaluate it.
#pragma once

#include <string>

#include "graphpae/core/features.h"
#include "graphpae/core/graph.h"
#include "graphpae/core/graph_set.h"
#include "graphpae/run/context.h"

namespace graphpae::run {

// Writes RUN/map.json from the embeddings of nodes [N,D] or molecules [G,D].
void write_map(const std::string& run, const Features& rows, const Graph& graph, const Context& context);
void write_map(const std::string& run, const Features& rows, const GraphSet& molecules, const Context& context);

// Writes RUN/report.html and returns its path. Work that is done is not lost for want of a page: what goes wrong is a
// message, and the path is "".
std::string write_report(const std::string& run, const Watch& watch);

}  // namespace graphpae::run
