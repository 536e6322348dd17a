// From representations to a map: a sample of rows, projected to a plane in two ways, with what a reader wants to know
// about each point.
#pragma once

#include <functional>

#include "graphpae/core/features.h"
#include "graphpae/core/graph.h"
#include "graphpae/core/graph_set.h"
#include "graphpae/core/threads.h"
#include "graphpae/report/embedding_map.h"

namespace graphpae {

struct MapOptions {
  int64_t points = 4000;              // at most
  int64_t drawing_bytes = 2'000'000;  // of all structures together
  uint64_t seed = 0;                  // of the sample
  Threads threads;
  std::function<void(int64_t done, int64_t total)> progress;
};

// rows [N,D] of the nodes of a graph, by class; or [G,D] of molecules, by the first target: its classes, or five ranges
// with as many molecules each. Molecules without atoms are left out.
EmbeddingMap make_map(const Features& rows, const Graph& graph, const MapOptions& options);
EmbeddingMap make_map(const Features& rows, const GraphSet& molecules, const MapOptions& options);

}  // namespace graphpae
