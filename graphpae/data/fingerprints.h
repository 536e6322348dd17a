// What chemists describe molecules by, without any training, through RDKit: counts of the surroundings of atoms, counts
// of pairs of atoms, physico-chemical descriptors. A row per text; zeros for what is not a molecule.
#pragma once

#include <string>
#include <vector>

#include "graphpae/core/features.h"
#include "graphpae/core/text_column.h"
#include "graphpae/core/threads.h"

namespace graphpae {

// How often each circular surrounding of up to `radius` bonds occurs (Morgan, ECFP-like invariants, radius 2 is ECFP4).
// Sparse [G,columns], ids folded into `columns` by their remainder; with columns 0 a column for each id that occurs, in
// the order of the ids.
Features morgan_counts(const TextColumn& texts, int radius, int64_t columns, Threads threads);

// How often each pair of kinds of atoms occurs at each distance in bonds. Likewise.
Features atom_pair_counts(const TextColumn& texts, int64_t columns, Threads threads);

struct Descriptors {
  std::vector<std::string> names;  // [D]
  Features rows;                   // dense [G,D] finite
};

// RDKit's registered properties (masses, counts of groups and rings, polar surface, logP, refractivity, connectivity
// and shape indices), its molecular quantum numbers, and surface areas by range of logP, refractivity and charge. What
// is not finite for a molecule has the mean of the others.
Descriptors molecule_descriptors(const TextColumn& texts, Threads threads);

}  // namespace graphpae
