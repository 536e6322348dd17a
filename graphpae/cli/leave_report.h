// The page and the map of a run, made by the verbs that train or evaluate it.
#pragma once

#include <string>

#include "graphpae/cli/command.h"
#include "graphpae/core/features.h"

namespace graphpae::cli {

// Writes RUN/map.json from the embeddings of nodes [N,D] or molecules [G,D]. Data: Graph or GraphSet.
void leave_map(const std::string& run, const Features& rows, const Graph& graph, const Common& common);
void leave_map(const std::string& run, const Features& rows, const GraphSet& molecules, const Common& common);

// Writes RUN/report.html and returns its path. Work that is done is not lost for want of a page: what goes wrong is a
// message, and the path is "".
std::string leave_report(const std::string& run);

}  // namespace graphpae::cli
