// Rows of a table that are the same molecule, however it is written.
#pragma once

#include <cstdint>
#include <string>

#include "graphpae/core/graph_set.h"
#include "graphpae/core/threads.h"

namespace graphpae {

struct MoleculeDuplicates {
  int64_t molecules = 0;    // rows whose structure is that of another row
  int64_t groups = 0;       // structures that several rows have
  int64_t conflicting = 0;  // of those, structures with different labels in some task
};

// By canonical SMILES with stereo marks. Two missing labels, or one, are no conflict. A set without texts has none.
MoleculeDuplicates find_molecule_duplicates(const GraphSetParts& parts, Threads threads);

// A sentence for users, or "" without duplicates.
std::string duplicates_note(const MoleculeDuplicates& duplicates);

}  // namespace graphpae
