// Chemistry: from the text of a molecule to its graph, through RDKit.
//
// Atoms and bonds keep RDKit's order and hydrogens are implicit, unless RDKit keeps them as atoms ([H][H]). A text
// with a line end in it is a mol block (.sdf), any other a SMILES.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "graphpae/core/graph_set.h"
#include "graphpae/core/text_column.h"
#include "graphpae/core/threads.h"

namespace graphpae {

// Which integer codes describe atoms and bonds (docs/data.md).
//   ogb       atoms: element, chirality, degree, charge, hydrogens, radical electrons, hybridisation, aromatic, in a
//             ring; bonds: type, stereo, conjugated
//   transfer  atoms: element, chirality; bonds: type, direction
// The element is the atomic number - 1. What a column has no code for (the atom *, a dative bond) is its last code;
// stereo beyond OGB's list is "any", a direction that is neither up nor down is none.
enum class Featurizer { ogb, transfer };

// The number of codes of every column.
struct CodeSizes {
  std::vector<int64_t> atoms;
  std::vector<int64_t> bonds;
};
CodeSizes code_sizes(Featurizer featurizer);

struct InvalidMolecule {
  int64_t row = 0;
  std::string reason;  // one line
};

// The graphs of G texts: nodes are atoms, edges are bonds. An invalid row has no atoms, and every row without atoms is
// invalid.
struct ParsedMolecules : GraphStructure {
  std::vector<InvalidMolecule> invalid;  // rows ascending

  int64_t num_graphs() const { return static_cast<int64_t>(node_offsets.size()) - 1; }
};

// Throws nothing about the texts: what is not a molecule is listed as invalid. Nothing is printed.
ParsedMolecules parse_molecules(const TextColumn& texts, Featurizer featurizer, Threads threads);

// The Murcko scaffold of every text (rings and what joins them) as canonical SMILES with chirality: "" without rings,
// nothing for a text that is not a molecule or whose scaffold RDKit cannot write.
std::vector<std::optional<std::string>> murcko_scaffolds(const TextColumn& texts, Threads threads);

// The canonical SMILES of every text, with chirality and isotopes: nothing for a text that is not a molecule. Read
// again it has its atoms and bonds in another order, and without what SMILES cannot say (a double bond marked as
// unknown).
std::vector<std::optional<std::string>> canonical_smiles(const TextColumn& texts, Threads threads);

// The structure of every text, drawn as a small SVG without a background: nothing for a text that is not a molecule.
std::vector<std::optional<std::string>> molecule_drawings(const TextColumn& texts, Threads threads);

// The version of RDKit in use, for instance "2022.09.3": another version may give other codes.
std::string rdkit_version();

// What happens to rows that are not molecules.
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
