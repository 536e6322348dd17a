// GraphSet: many small graphs (molecules) in flat arrays, with their texts and targets.
//
// Readers of text make sets without structure, whose structural arrays are empty; load() adds it, so that every set it
// returns has one.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/split.h"
#include "graphpae/core/text_column.h"

namespace graphpae {

// Integer codes, row-major: rows x columns.
struct Codes {
  int64_t columns = 0;
  std::vector<int16_t> values;
};

// The structure of G graphs with N nodes and B undirected edges in all.
struct GraphStructure {
  std::vector<int64_t> node_offsets;  // [G+1], or empty: no structure
  std::vector<int64_t> edge_offsets;  // [G+1]
  std::vector<Edge> edges;            // [B] node numbers local to their graph, each edge once
  Codes node_codes;                   // [N, columns]
  Codes edge_codes;                   // [B, columns]
};

// What a reader found about G graphs.
struct GraphSetParts : GraphStructure {
  int64_t num_graphs = 0;

  TextColumn texts;                     // [G] SMILES or mol blocks, or empty
  std::string id_name;                  // the column that names molecules, or ""
  TextColumn ids;                       // [G] its texts, or empty
  std::vector<std::string> task_names;  // [T]
  std::vector<double> targets;          // [G * T], NaN = missing
  std::vector<Split> splits;            // ids of graphs
};

class GraphSet {
 public:
  // Throws a data error that names the graph if the parts do not fit together.
  explicit GraphSet(GraphSetParts parts);

  int64_t num_graphs() const { return parts_.num_graphs; }
  int64_t num_tasks() const { return static_cast<int64_t>(parts_.task_names.size()); }
  bool has_structure() const { return !parts_.node_offsets.empty(); }
  int64_t num_nodes() const { return has_structure() ? parts_.node_offsets.back() : 0; }
  int64_t num_edges() const { return has_structure() ? parts_.edge_offsets.back() : 0; }
  const GraphSetParts& parts() const { return parts_; }

 private:
  GraphSetParts parts_;
};

// Where each of several groups begins, from the number of its members, and where the last one ends.
template <class T>
std::vector<int64_t> offsets_of(const std::vector<T>& counts) {
  std::vector<int64_t> offsets(1, 0);
  for (const T count : counts) offsets.push_back(offsets.back() + count);
  return offsets;
}

// Connected components of one graph of the set. Requires has_structure().
int64_t count_fragments(const GraphSet& set, int64_t graph);

}  // namespace graphpae
