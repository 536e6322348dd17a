// All eigenpairs of a small dense symmetric matrix, in float64.
#pragma once

#include <cstdint>
#include <vector>

#include "graphpae/core/threads.h"

namespace graphpae {

struct SymmetricEigen {
  std::vector<double> values;   // [n] ascending
  std::vector<double> vectors;  // [n,n] the vector of values[j] is column j: vectors[j * n + i] is its entry i
};

// `matrix` is [n,n]; only its lower triangle (row >= column) is read. Throws a numerical error if the matrix holds
// values that are not finite.
SymmetricEigen symmetric_eigen(const std::vector<double>& matrix, int64_t n, Threads threads = {});

}  // namespace graphpae
