// TableSample: the first lines of a text table, from which readers tell what its columns mean.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_set>
#include <vector>

namespace graphpae {

struct TableSample {
  std::string path;
  char delimiter = ',';
  std::vector<std::vector<std::string>> rows;  // trimmed fields; lines that are empty or comments are left out
  std::vector<int64_t> lines;                  // [rows] their numbers, from 1
  int64_t announced_nodes = -1;                // by a comment such as "# Nodes: 2708 Edges: 5429"; -1: none
};

// At most `rows` of them. Throws a data error naming a line with a quote that is not closed.
TableSample sample_table(const std::string& path, size_t rows = 256);

// What the values of one column have in common.
struct ColumnFacts {
  bool whole = true;     // all are whole numbers
  bool numbers = true;   // all are numbers
  bool counting = true;  // 0, 1, 2, ... or 1, 2, 3, ... in order, at least three of them
  std::unordered_set<std::string> values;
};
// Of rows first_row ... that have such a column.
ColumnFacts facts_of(const TableSample& sample, size_t first_row, size_t column);

// The share of the values of the smaller column that are in the other, too.
double shared_values(const ColumnFacts& a, const ColumnFacts& b);

// The first three rows for a message of one line: "[a | b] [1 | 2]".
std::string shown_rows(const TableSample& sample);

}  // namespace graphpae
