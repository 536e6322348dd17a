#include <algorithm>
#include <cmath>

#include "graphpae/positions/component_solvers.h"
#include "graphpae/positions/symmetric_eigen.h"

namespace graphpae {
int64_t dense_solver_memory(int64_t num_nodes, int64_t count) {
  return 8 * num_nodes * (3 * num_nodes + count);  // the matrix, the solver's copy, all vectors, those kept
}

ComponentSolution solve_dense(const LaplacianGraph& graph, int64_t count, double tolerance, Threads threads) {
  const int64_t n = graph.num_nodes();
  std::vector<double> root(n);  // D^-1/2
  for (int64_t i = 0; i < n; ++i) root[i] = 1.0 / std::sqrt(graph.strength(i));

  // L + 4 n n^T with the known eigenvector n = D^1/2: its eigenvalue 0 moves to the far end, exactly separated from a
  // second one that may be tiny.
  const double volume = graph.volume();
  std::vector<double> matrix(n * n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) matrix[i * n + j] = (i == j) + 4.0 / (root[i] * root[j] * volume);
    for (int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
      const int32_t j = graph.neighbours[e];
      matrix[i * n + j] -= graph.weight(e) * (root[i] * root[j]);
    }
  }
  const SymmetricEigen eigen = symmetric_eigen(matrix, n, threads);

  ComponentSolution solution;
  solution.num_nodes = n;
  solution.eigenvectors.resize(n * count);
  for (int64_t j = 0; j < count; ++j) {
    double value = 0;
    for (int64_t i = 0; i < n; ++i) {
      solution.eigenvectors[i * count + j] =
          j == 0 ? 1.0 / (root[i] * std::sqrt(volume)) : eigen.vectors[(j - 1) * n + i];
    }
    if (j > 0) value = std::max(0.0, eigen.values[j - 1]);
    double square = 0;
    for (int64_t i = 0; i < n; ++i) {
      double sum = (1.0 - value) * solution.eigenvectors[i * count + j];
      for (int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
        const int32_t k = graph.neighbours[e];
        sum -= graph.weight(e) * (root[i] * root[k]) * solution.eigenvectors[k * count + j];
      }
      square += sum * sum;
    }
    solution.eigenvalues.push_back(value);
    solution.residuals.push_back(std::sqrt(square));
    solution.converged = solution.converged && solution.residuals.back() <= tolerance;
  }
  return solution;
}

}  // namespace graphpae
