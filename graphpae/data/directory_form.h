// Our own directory form. One graph:
//   edges.csv[.gz]     header src,dst or src,dst,weight; a first line `# directed` keeps directions
//   features.npz       SciPy csr or one dense array; or features.csv[.gz]
//   labels.npy|csv     one class per node, -1 = unlabelled; classes.csv names them
//   splits.npz         train_0, val_0, test_0, ...
//   nodes.csv[.gz]     header node: names, or just the number of nodes when nothing else tells it
// or molecules:
//   molecules.csv[.gz] header smiles,<task>...; split/{train,valid,test}.csv[.gz]; graphs.npz
// or graphs that are not molecules:
//   graphs.npz         as of molecules; targets.csv[.gz] with header <task>...; split/
// Everything but edges, molecules or graphs is optional.
#pragma once

#include <string>
#include <vector>

#include "graphpae/core/graph.h"
#include "graphpae/core/graph_set.h"
#include "graphpae/data/column_use.h"
#include "graphpae/data/molecules.h"

namespace graphpae {

bool is_graph_directory(const std::string& directory);
bool is_molecule_directory(const std::string& directory);
bool is_graph_set_directory(const std::string& directory);

// `columns` receives how text tables were understood.
GraphParts read_graph_directory(const std::string& directory, std::vector<std::string>& notes, Threads threads,
                                std::vector<ColumnUse>* columns = nullptr);
// With the structure of graphs.npz if it is there. Of options.tasks every one must be a column; without them every
// column must be numeric.
MoleculeRows read_molecule_directory(const std::string& directory, MoleculeOptions options,
                                     std::vector<std::string>& notes);
MoleculeRows read_graph_set_directory(const std::string& directory);  // without texts

// Written completely or not at all; an existing directory needs `force`.
void write_directory(const std::string& directory, const Graph& graph, bool force);
void write_directory(const std::string& directory, const GraphSet& set, bool force);

}  // namespace graphpae
