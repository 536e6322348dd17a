// Which columns of a text table are the ends of edges, and which is their weight: told from the header and from the
// first lines as a whole (kinds of values, repeats, known names), never from the first line alone.
//
// Where that is not sure, recognition stops with a question: an error that shows the first rows and says which flag
// answers it. A wrong guess would be a graph that nobody drew.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "graphpae/data/edge_lines.h"

namespace graphpae {

enum class NodeIds {
  automatic,  // numbers if the first edge has numbers, otherwise names
  numbers,    // node numbers
  names,      // any text; nodes are numbered by first appearance
};

struct EdgeColumns {
  EdgeLines lines;  // delimiter, number of columns, which are source, target and weight, the first line with an edge
  bool numeric = true;
  bool has_edges = false;
  bool has_header = false;
  std::vector<std::string> names;  // [columns] of the header, or 1, 2, 3, ...
  bool leads_somewhere = false;    // the header names a direction, such as citing and cited
  int64_t announced_nodes = -1;    // by a comment; -1: not

  std::string name(int column) const { return names[static_cast<size_t>(column)]; }
  std::vector<std::string> left_out() const;  // columns that are none of the three
};

// `wanted`: SOURCE,TARGET or SOURCE,TARGET,WEIGHT by name or by number from 1, or "". Throws a data error naming the
// line of what is not an edge, a data error that asks if columns are not told, and a usage error for wanted columns
// that are not there.
EdgeColumns recognise_edge_columns(const std::string& path, NodeIds ids, const std::string& wanted = "");

}  // namespace graphpae
