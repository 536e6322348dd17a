// ARPACK driven as SciPy's eigsh(L, k, which='SA', tol=tolerance) drives it: float64, reverse communication,
// ncv = min(N, max(2 k + 1, 20)), at most 10 N restarts.
#pragma once

#include <cstdint>
#include <vector>

#include "graphpae/core/adjacency.h"

namespace graphpae::bench {

struct ArpackResult {
  int info = 0;
  int64_t converged = 0;
  int64_t products = 0;
  std::vector<double> eigenvalues;  // [k] ascending
  double max_residual = 0;
};
ArpackResult arpack_smallest(const Adjacency& graph, int64_t k, double tolerance);

}  // namespace graphpae::bench
