// Molecules as text rows: SMILES tables, .smi files and .sdf files, gzipped or not. The text is kept
// as it is; chemistry happens elsewhere.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graphpae/core/graph_set.h"
#include "graphpae/data/chemistry.h"
#include "graphpae/io/input_file.h"

namespace graphpae {

struct MoleculeOptions {
  std::string smiles_column;       // "": the column named smiles
  std::vector<std::string> tasks;  // target columns or tags by name; empty: every one that holds numbers
  bool all_columns = false;        // every other column must be a target (our directory form)
  std::string id_column = {};      // of a table, that names molecules; "": found by its name (molecule_ids.h)
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

// SMILES of a file, one after another: a file of any length needs the memory of a line.
class SmilesRows {
 public:
  explicit SmilesRows(const std::string& path) : reader_(path) {}
  virtual ~SmilesRows() = default;

  virtual bool next() = 0;                      // false at the end
  virtual std::string_view smiles() const = 0;  // of the row
  const LineReader& reader() const { return reader_; }

 protected:
  LineReader reader_;
};

// A list as of starts_with_smiles, or a .smi file: SMILES first, then anything; blank lines, those that start with #
// and a first line that says smiles are left out.
class SmilesList : public SmilesRows {
 public:
  using SmilesRows::SmilesRows;
  bool next() override;
  std::string_view smiles() const override { return smiles_; }

 private:
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

// Tables of molecules: a header, a column of SMILES and columns of numbers (.csv, .tsv, .txt, gzipped or not). The
// delimiter (tab, comma, semicolon, blanks) is the one that shows the column of SMILES in the header. Without a wish
// that column is named smiles, in any case, or is the only one whose name holds the word (canonical_smiles).
class MoleculeTable : public SmilesRows {
 public:
  // Reads the header. Throws a data error that names the columns if that of SMILES is not told.
  MoleculeTable(const std::string& path, const std::string& smiles_column);

  // The next row that is not blank; false at the end. Throws a data error naming the line of a wrong column count.
  bool next() override;
  std::string_view smiles() const override;

  const std::vector<std::string>& names() const { return names_; }
  size_t smiles_index() const { return smiles_; }
  const std::vector<std::string>& fields() const { return fields_; }  // of the row

 private:
  char delimiter_ = ',';
  std::vector<std::string> names_, fields_;
  size_t smiles_ = 0;
};

// Whether the first line of a text file names a column of SMILES.
bool has_smiles_column(const std::string& path);

// As read_molecules. Without options.tasks and all_columns, columns that are empty, not numeric or ids are left out;
// `notes` names them.
MoleculeRows read_molecule_table(const std::string& path, const MoleculeOptions& options,
                                 std::vector<std::string>& notes);

// What `column` of a table holds, if it has no SMILES but InChI, which RDKit as packaged cannot read, or keys of InChI:
// the message of an error, or "".
std::string inchi_message(const std::string& path);

}  // namespace graphpae
