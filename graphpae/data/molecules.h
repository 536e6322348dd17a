// Molecules as text rows: SMILES tables (molecule_table.h), .smi files and .sdf files, gzipped or not. The text is kept
// as it is; chemistry happens elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graphpae/core/graph_set.h"
#include "graphpae/data/invalid_molecules.h"
#include "graphpae/io/input_file.h"

namespace graphpae {

struct MoleculeOptions {
  std::string smiles_column;       // "": the column named smiles
  std::vector<std::string> tasks;  // target columns or tags by name; empty: every one that holds numbers
  bool all_columns = false;        // every other column must be a target (our directory form)
};

// Rows and where each stands.
struct MoleculeRows {
  GraphSetParts parts;
  MoleculeSource source;
};

// Without splits and structure. `notes` receives what was ignored. Throws a data error naming the line of a wrong
// column count or of a target that is not a number, and the columns there are if one is missing.
MoleculeRows read_molecules(const std::string& path, const MoleculeOptions& options, std::vector<std::string>& notes);

// Whether the first line of a text file, and all of it, is one valid SMILES: a list of molecules without a header.
bool starts_with_smiles(const std::string& path);

// The column of a table with a header whose first rows all hold SMILES, by their look (brackets, bonds) and by RDKit,
// though its name does not say so; "" if there is none.
std::string unnamed_smiles_column(const std::string& path);
// Such a list, or a .smi file, one molecule after another: SMILES first, then anything; blank lines, those that start
// with # and a first line that says smiles are left out.
class SmilesList {
 public:
  explicit SmilesList(const std::string& path) : reader_(path) {}

  bool next();  // false at the end
  std::string_view smiles() const { return smiles_; }
  const LineReader& reader() const { return reader_; }

 private:
  LineReader reader_;
  std::string_view smiles_;
  bool first_ = true;
};
MoleculeRows read_smiles_list(const std::string& path);

// split/{train,valid,test}.csv[.gz] below `directory`: one row number per line. No split if there is no
// such directory.
std::vector<Split> read_molecule_split(const std::string& directory);

// graphs.npz: num_nodes, num_bonds, bonds, atom_feat, bond_feat (see docs/data.md).
void read_molecule_graphs(const std::string& path, GraphSetParts& parts);
void write_molecule_graphs(const std::string& path, const GraphSetParts& parts);

}  // namespace graphpae
