// What happens to rows that are not molecules, and the way from parsed rows into a set.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "graphpae/core/graph_set.h"
#include "graphpae/data/chemistry.h"

namespace graphpae {

enum class OnInvalid {
  fail,  // an error that names the first one
  skip,  // left out: texts, targets and splits without them, ids numbered anew
  nan,   // kept as rows without atoms, so that outputs stay aligned with inputs, but in no split
};

// Where the rows of a set stand, for messages.
struct MoleculeSource {
  std::string file;
  bool records = false;        // .sdf: counted by records from 1, not by lines
  int64_t first_line = 2;      // of row 0, if every further row is on the next line: 2 below a header
  std::vector<int64_t> lines;  // [G] otherwise, the line of each row
};

// Moves the structure of `parsed` (of parts.texts, row by row) into `parts` and deals with its invalid rows. Returns
// their number; `notes` says which they are. Throws a data error with file, line, text and reason under
// OnInvalid::fail, or if every row would be left out.
int64_t add_structure(ParsedMolecules parsed, OnInvalid policy, const MoleculeSource& source, GraphSetParts& parts,
                      std::vector<std::string>& notes);

}  // namespace graphpae
