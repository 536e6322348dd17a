// Edge lists: one edge per line, as .csv, .tsv or .txt, gzipped or not.
//
// Delimiter, header and columns are recognised from the first lines (edge_columns.h); lines that start with #, % or //
// are comments. Further columns are left out, but every line must have as many as the first.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/text_column.h"
#include "graphpae/data/column_use.h"
#include "graphpae/data/edge_columns.h"

namespace graphpae {

struct EdgeList {
  EdgeBlocks blocks;
  EdgeWeights weights;             // if there is a column of them
  int64_t num_nodes = 0;           // largest id + 1, or the number of names
  TextColumn names;                // [num_nodes] if ids are names
  std::vector<std::string> notes;  // what was left out
  ColumnUse columns;               // how the columns were understood
  int64_t announced_nodes = -1;    // by a comment; -1: not
  bool leads_somewhere = false;    // the header names a direction
};

struct EdgeListOptions {
  NodeIds ids = NodeIds::automatic;
  int64_t num_nodes = -1;  // ids must be below it; -1: not known
  Threads threads;
  std::string columns = {};  // SOURCE,TARGET[,WEIGHT] by name or by number from 1; "": recognised
  int64_t base = 0;          // the smallest number of a node, which becomes node 0
};

// Throws a data error naming file and line, and what recognise_edge_columns throws.
EdgeList read_edge_list(const std::string& path, const EdgeListOptions& options = {});

}  // namespace graphpae
