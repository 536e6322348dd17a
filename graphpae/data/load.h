// load: any readable data, its form recognised from the path and the first bytes (docs/data.md).
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/core/graph_set.h"
#include "graphpae/data/chemistry.h"
#include "graphpae/data/edge_list.h"
#include "graphpae/data/molecule_duplicates.h"

namespace graphpae {

struct LoadOptions {
  std::string features, labels, splits;  // files beside an edge list, or instead of what the data hold
  NodeIds ids = NodeIds::automatic;
  std::string columns;    // of an edge list: SOURCE,TARGET[,WEIGHT] by name or number, "": recognised
  int64_t base = -1;      // the smallest node number of an edge list, 0 or 1; -1: told from the data
  bool directed = false;  // edges lead from source to target
  std::string id_column;  // that names nodes or molecules in tables; "": found by its name
  EdgeOptions edges;

  std::string smiles_column;
  std::vector<std::string> tasks;
  // The codes of molecules. Without a wish a directory keeps the graphs it holds, and texts get those of ogb; a wish
  // that graphs of a directory do not meet, by the number of their columns, has them made anew from the texts.
  std::optional<Featurizer> featurizer;
  OnInvalid on_invalid = OnInvalid::skip;
  bool as_smiles = false;      // mol blocks become canonical SMILES, and graphs have the atoms in that order
  std::string molecule_cache;  // directory of parsed molecules (molecule_cache.h), "": none

  int64_t year_classes = 0;  // OGB node data: classes made of publication years (arXiv-year)
  Threads threads = all_threads();
};

struct Dataset {
  std::variant<Graph, GraphSet> content;
  std::string form;                     // how it was read, for instance "edge list"
  std::vector<std::string> notes;       // what a user should know: columns ignored, ...
  int64_t invalid = 0;                  // rows that are not molecules, left out or kept as OnInvalid says
  MoleculeDuplicates duplicates = {};   // of molecules with targets
  std::vector<ColumnUse> columns = {};  // how columns of text tables were understood

  bool is_graph() const { return std::holds_alternative<Graph>(content); }
  const Graph& graph() const& { return std::get<Graph>(content); }
  const GraphSet& graph_set() const& { return std::get<GraphSet>(content); }
  // Of a temporary, as in `load(path).graph()`: moved out.
  Graph graph() && { return std::get<Graph>(std::move(content)); }
  GraphSet graph_set() && { return std::get<GraphSet>(std::move(content)); }
};

// A path; known names are resolved by data/known_data.h. A set of molecules has its structure. Throws a data error if
// nothing can be read.
Dataset load(const std::string& path, const LoadOptions& options = {});

}  // namespace graphpae
