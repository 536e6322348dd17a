// The column of a table that names its molecules, so that outputs can be joined with what they were made from.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace graphpae {

// `wanted`, or else the first one named id, name, mol_id, ...; -1 if there is none. `smiles` is another column. Throws
// a usage error that suggests the nearest name if there is no column `wanted`; `path` starts it.
int id_column_of(const std::vector<std::string>& names, size_t smiles, const std::string& wanted,
                 const std::string& path);

}  // namespace graphpae
