// For the sources that include RDKit's headers only.
#pragma once

#include <memory>
#include <string_view>

namespace RDKit {
class RWMol;
}

namespace graphpae {

// The molecule of a text as parse_molecules sees it, with at least one atom. Throws what RDKit throws, or a
// std::exception that says why there is none.
std::unique_ptr<RDKit::RWMol> rdkit_molecule(std::string_view text);

}  // namespace graphpae
