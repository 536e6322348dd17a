// Splits of nodes in a text table: `node,split` or a column per split, with train, val and test as values.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graphpae/core/split.h"
#include "graphpae/data/column_use.h"
#include "graphpae/data/node_rows.h"

namespace graphpae {

struct SplitTable {
  std::vector<Split> splits;  // one per column
  ColumnUse columns;
};

// Values are train or training; val, valid, validation or dev; test or testing, in any case; a missing value, - or
// `none` is in no part. Rows are the nodes in their order, or name them (node_rows.h). Throws a data error naming file
// and line, and check_splits' errors.
SplitTable read_split_table(const std::string& path, const NodeIndex* index, int64_t num_nodes,
                            const std::string& id_column = "");

}  // namespace graphpae
