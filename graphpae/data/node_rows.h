// Text tables about nodes (features, labels, splits): which column names the node, and their rows.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graphpae/core/error.h"
#include "graphpae/core/text_column.h"
#include "graphpae/data/column_use.h"
#include "graphpae/io/input_file.h"

namespace graphpae {

// From the name of a node to its number. Without names, a name is the number itself.
class NodeIndex {
 public:
  NodeIndex(const TextColumn& names, int64_t num_nodes);  // of names that outlive it
  int64_t find(std::string_view name) const;              // -1 if there is no such node
  std::string name(int64_t node) const;
  bool has_names() const { return has_names_; }

 private:
  std::unordered_map<std::string, int64_t> numbers_;
  const TextColumn* names_;
  bool has_names_;
  int64_t num_nodes_;
};

enum class NodeTableKind { features, labels, splits };

struct NodeTableLayout {
  std::string path;
  NodeTableKind kind = NodeTableKind::features;
  char delimiter = ',';
  size_t columns = 1;
  int key = -1;                     // the column that names the node; -1: rows are nodes in their order
  std::vector<std::string> header;  // [columns], or empty

  bool has_key() const { return key >= 0; }
  std::string column_name(size_t column) const;  // of the header, or its number from 1
  ColumnUse use() const;
};

// From the header and the first rows. The column of nodes is `id_column`, or one headed node, id, ... , or a first
// column of distinct words beside numbers, or the first of two in a table of labels. A first row of words is no header
// if it names a node of `index`. Throws a usage error if there is no column `id_column`, a data error for an empty
// file.
NodeTableLayout recognise_node_table(const std::string& path, NodeTableKind kind, const std::string& id_column = "",
                                     const NodeIndex* index = nullptr);

// The rows below the header, one after another.
class NodeRowReader {
 public:
  explicit NodeRowReader(const NodeTableLayout& layout);  // which outlives it

  // Trimmed fields, as many as the layout has columns; false at the end. Throws a data error naming the line of another
  // number of fields and of a quote that is not closed. A blank line is a row only if there is one column of labels.
  bool next(std::vector<std::string>& fields);
  // The node of the row just read: of its key, else the next one. Throws a data error if there is no such node.
  int64_t node(const std::vector<std::string>& fields, const NodeIndex* index);
  Error error(const std::string& message) const { return reader_.error(message); }

 private:
  const NodeTableLayout& layout_;
  LineReader reader_;
  int64_t rows_ = 0;
  bool header_pending_;
};

// The keys of all rows; only of a layout with a key.
std::vector<std::string> node_keys(const NodeTableLayout& layout);

// Whether a table of nodes is text, by the suffix of its name.
bool is_text_table(const std::string& path);

// None, nan, NA, N/A, null, ? and nothing, in any case: a value that is missing.
bool is_missing_value(std::string_view text);

}  // namespace graphpae
