// Molecules in pieces: graphs of some thousand rows at a time, so that a text of any length needs little memory.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graphpae/core/graph_set.h"
#include "graphpae/data/load.h"

namespace graphpae {

// Receives the structure of the next molecules, all of which have atoms, and the number of rows read so far.
using TakeMolecules = std::function<void(const GraphSetParts& molecules, int64_t rows_read)>;

struct StreamCounts {
  int64_t rows = 0, invalid = 0;  // read; of those, not molecules and left out
};

// The file of texts that is read in pieces for this path: a table or list of SMILES, or the molecules.csv of a
// directory without graphs.npz. "" for any other data, which only load() reads.
std::string smiles_file_of(const std::string& path, const LoadOptions& options);

// The rows of such a file.
int64_t count_rows(const std::string& smiles_file, const LoadOptions& options);

// `rows` rows of such a file at a time. Rows that are not molecules are left out, which `notes` says, or an error, as
// options.on_invalid says (skip or fail). Throws a data error if none is a molecule.
StreamCounts stream_molecules(const std::string& smiles_file, const LoadOptions& options, int64_t rows,
                              std::vector<std::string>& notes, const TakeMolecules& take);

// The same for a set in memory; molecules without atoms are left out.
StreamCounts stream_molecules(const GraphSet& set, int64_t rows, const TakeMolecules& take);

}  // namespace graphpae
