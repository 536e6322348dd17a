// Edge lists: one edge per line, as .csv, .tsv or .txt, gzipped or not.
//
// Delimiter and header are recognised from the first lines; lines that start with #, % or // are
// comments. Further columns (weights, times) are ignored, but every line must have as many as the first.
// Plain files are parsed in blocks on all threads.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/text_column.h"

namespace graphpae {

enum class NodeIds {
  automatic,  // numbers if the first edge has numbers, otherwise names
  numbers,    // 0-based node numbers
  names,      // any text; nodes are numbered by first appearance
};

struct EdgeList {
  EdgeBlocks blocks;
  int64_t num_nodes = 0;           // largest id + 1, or the number of names
  TextColumn names;                // [num_nodes] if ids are names
  std::vector<std::string> notes;  // what was ignored
};

struct EdgeListOptions {
  NodeIds ids = NodeIds::automatic;
  int64_t num_nodes = -1;  // ids must be below it; -1: not known
  Threads threads;
};

// Throws a data error naming file and line.
EdgeList read_edge_list(const std::string& path, const EdgeListOptions& options = {});

// The numeric lines of a file whose layout is known (also used for MatrixMarket).
struct EdgeLines {
  char delimiter = ',';
  int columns = 2;
  int64_t first_line = 1;  // where the edges start, counted from 1
  int64_t base = 0;        // the smallest id: 0 or 1
  int64_t num_nodes = -1;  // ids must be below base + num_nodes; -1: not known
};
EdgeBlocks read_edge_lines(const std::string& path, const EdgeLines& layout, Threads threads);

// The largest id + 1 over all edges.
int64_t nodes_in(const EdgeBlocks& blocks);

}  // namespace graphpae
