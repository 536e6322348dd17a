// Rows whose columns add up to zero.
#pragma once

#include <vector>

#include "graphpae/core/features.h"

namespace graphpae {

// X [N,D] row-major without the mean of every column.
std::vector<double> centred_rows(const Features& x);

}  // namespace graphpae
