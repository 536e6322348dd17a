// Tables of molecules: a header, a column of SMILES and columns of numbers (.csv, .tsv, .txt, gzipped or not).
//
// The delimiter (tab, comma, semicolon, blanks) is the one that shows the column of SMILES in the header. Without a
// wish that column is named smiles, in any case, or is the only one whose name holds the word (canonical_smiles).
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graphpae/data/molecules.h"
#include "graphpae/io/input_file.h"

namespace graphpae {

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

// Whether values are ids by the name of their column or tag (id, index, ..., mol_id), all whole and none twice.
bool are_ids(const std::string& name, const std::vector<double>& values);

// A number, NaN for a missing value ("", NA, None, null, ...), or nothing if the text is neither.
std::optional<double> parse_target(std::string_view text);

}  // namespace graphpae
