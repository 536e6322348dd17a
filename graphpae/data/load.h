// load: any readable data, its form recognised from the path and the first bytes (docs/data.md).
#pragma once

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/core/graph_set.h"
#include "graphpae/data/edge_list.h"

namespace graphpae {

struct LoadOptions {
  std::string features, labels, splits;  // files beside an edge list, or instead of what the data hold
  NodeIds ids = NodeIds::automatic;
  EdgeOptions edges;
  std::string smiles_column;
  std::vector<std::string> tasks;
  int64_t year_classes = 0;  // OGB node data: classes made of publication years (arXiv-year)
  Threads threads;
};

struct Dataset {
  std::variant<Graph, GraphSet> content;
  std::string form;                // how it was read, for instance "edge list"
  std::vector<std::string> notes;  // what a user should know: columns ignored, ...

  bool is_graph() const { return std::holds_alternative<Graph>(content); }
  const Graph& graph() const { return std::get<Graph>(content); }
  const GraphSet& graph_set() const { return std::get<GraphSet>(content); }
};

// A path; known names are resolved by data/known_data.h. Throws a data error if nothing can be read.
Dataset load(const std::string& path, const LoadOptions& options = {});

}  // namespace graphpae
