// Blocks of molecules, from their texts (data/fingerprints.h).
//
//   morgan       counts of the surroundings of atoms, of up to 2 bonds; sparse
//   descriptors  RDKit's descriptors: standardised over the molecules, sizes beyond 6 deviations cut
//   atom_pairs   counts of pairs of atoms at their distances; sparse
#pragma once

#include <string>
#include <vector>

#include "graphpae/blocks/block.h"
#include "graphpae/core/graph_set.h"

namespace graphpae {

// None for a set without texts.
std::vector<std::string> molecule_block_names(const GraphSet& molecules);

// A row per molecule, zeros for those without atoms. Throws a usage error for a name that is not one of theirs.
Block molecule_block(const GraphSet& molecules, const std::string& name, const BlockOptions& options = {});

}  // namespace graphpae
