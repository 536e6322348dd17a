// The eigenpairs of one connected component, and what may be asked of its solvers.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

namespace graphpae {

struct ComponentSolution {
  int64_t num_nodes = 0;
  std::vector<double> eigenvalues;   // [K] of L, ascending; the first is exactly 0 if the component has edges
  std::vector<double> residuals;     // [K] ||L u - lambda u||
  std::vector<double> eigenvectors;  // [N,K] row-major, orthonormal columns
  bool converged = true;             // every residual is within the tolerance
  bool complete = true;              // a search for missed eigenvectors found none

  int64_t count() const { return static_cast<int64_t>(eigenvalues.size()); }
};

// Called now and then with the number of converged pairs; returns false to stop the solver.
using ConvergenceCallback = std::function<bool(int64_t converged)>;

}  // namespace graphpae
