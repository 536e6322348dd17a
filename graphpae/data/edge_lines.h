// The lines of an edge list whose layout is known: numbers of nodes and, if there is a column of them, weights. Plain
// files are parsed in blocks on all threads.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "graphpae/core/adjacency.h"

namespace graphpae {

// Empty, or one that starts with #, % or //.
bool is_comment_line(std::string_view line);

struct EdgeLines {
  char delimiter = ',';
  int columns = 2;
  int64_t first_line = 1;                   // where the edges start, counted from 1
  int64_t base = 0;                         // the smallest id: 0 or 1
  int64_t num_nodes = -1;                   // ids must be below base + num_nodes; -1: not known
  int source = 0, target = 1, weight = -1;  // places of columns, from 0; -1: none
};

struct EdgeRows {
  EdgeBlocks edges;
  EdgeWeights weights;  // in the same blocks, if there is a column of them
};

// Throw a data error naming file and line.
EdgeRows read_edge_rows(const std::string& path, const EdgeLines& layout, Threads threads);
EdgeBlocks read_edge_lines(const std::string& path, const EdgeLines& layout, Threads threads);  // the edges alone

// The largest id + 1 over all edges.
int64_t nodes_in(const EdgeBlocks& blocks);

}  // namespace graphpae
