// Molecules as text rows: SMILES tables (.csv, .tsv), .smi files and .sdf files, gzipped or not. The text
// is kept as it is; chemistry happens elsewhere.
#pragma once

#include <string>
#include <vector>

#include "graphpae/core/graph_set.h"

namespace graphpae {

struct MoleculeOptions {
  std::string smiles_column;       // "": the column named smiles, in any case
  std::vector<std::string> tasks;  // target columns by name; empty: every column of numbers
  bool all_columns = false;        // every other column must be a target (our directory form)
};

// Whether the first line of a text file names a column of SMILES.
bool has_smiles_column(const std::string& path, const std::string& smiles_column);

// Without splits and structure. `notes` receives what was ignored. Throws a data error naming the line of a
// wrong column count or of a target that is not a number, and the columns there are if one is missing.
GraphSetParts read_molecules(const std::string& path, const MoleculeOptions& options, std::vector<std::string>& notes);

// split/{train,valid,test}.csv[.gz] below `directory`: one row number per line. No split if there is no
// such directory.
std::vector<Split> read_molecule_split(const std::string& directory);

// graphs.npz: num_nodes, num_bonds, bonds, atom_feat, bond_feat (see docs/data.md).
void read_molecule_graphs(const std::string& path, GraphSetParts& parts);
void write_molecule_graphs(const std::string& path, const GraphSetParts& parts);

}  // namespace graphpae
