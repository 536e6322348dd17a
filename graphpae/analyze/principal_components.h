// Principal components: the directions along which rows differ most.
#pragma once

#include <cstdint>
#include <vector>

#include "graphpae/core/features.h"
#include "graphpae/core/threads.h"

namespace graphpae {

// X [N,D] row-major without the mean of every column.
std::vector<double> centred_rows(const Features& x);

struct PrincipalComponents {
  int64_t rows = 0, components = 0;
  std::vector<double> scores;  // [rows,components] row-major, centred
  std::vector<double> shares;  // [components] of the whole variance, descending
};

// Of rows X [N,D], at most min(components, D) of them. Signs are such that the largest entry of a direction is
// positive. The same for any number of threads. All zero for rows that do not differ.
PrincipalComponents principal_components(const Features& x, int64_t components, Threads threads);

}  // namespace graphpae
