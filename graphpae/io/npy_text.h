// Arrays of texts in NumPy files.
#pragma once

#include <string>
#include <vector>

#include "graphpae/io/npy.h"

namespace graphpae {

// The texts of an array of byte strings or of text, as UTF-8. Throws a data error naming an array of anything else.
std::vector<std::string> texts_of(const NpyArray& array);

}  // namespace graphpae
