// What becomes of the attributes of nodes: labels, features, names of nodes, or nothing. The rules are in docs/data.md.
#pragma once

#include <string>
#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/data/attributed_graph.h"

namespace graphpae {

struct NodeAttribute {
  AttributeColumn column;
  std::string fallback;  // of nodes without a value; "": missing
};

struct AttributeReport {
  TextColumn names;                // [N] an attribute that names the nodes, or empty
  std::vector<std::string> notes;  // what was taken for what
};

// Adds features and labels to `parts`, whose num_nodes is set. `ids` are the names nodes have in the file; if they only
// count, an attribute may name the nodes instead.
AttributeReport use_attributes(std::vector<NodeAttribute> attributes, const TextColumn& ids, bool ids_only_count,
                               GraphParts& parts);

}  // namespace graphpae
