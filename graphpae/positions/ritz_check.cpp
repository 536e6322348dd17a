#include "graphpae/positions/ritz_check.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graphpae/positions/small_matrix.h"
#include "graphpae/positions/symmetric_eigen.h"

namespace graphpae {
namespace {

using Matrix64 = PanelMatrix<double>;

// X^T B for all panels of X and of B = f(X), panel by panel: [n,n] with n = 16 panels.
template <class PanelFunction>
std::vector<double> projected(const Matrix64& x, const PanelFunction& b, Threads threads) {
  const int64_t n = x.panels() * kPanel;
  std::vector<double> result(n * n);
  for (int64_t p = 0; p < x.panels(); ++p) {
    const PanelBlocks blocks = project(x, {0, x.panels()}, static_cast<const double*>(b(p)), threads);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t c = 0; c < kPanel; ++c) result[i * n + p * kPanel + c] = blocks[i * kPanel + c];
    }
  }
  return result;
}

struct Pairs {
  std::vector<double> values;  // Rayleigh quotients with S
  std::vector<double> residuals;
};

Pairs measure(const WalkOperator& walk, const Matrix64& x, Matrix64& product, Matrix64& work, Threads threads) {
  Pairs pairs;
  const int64_t rows = x.rows();
  for (int64_t p = 0; p < x.panels(); ++p) {
    double* y = product.panel(0);
    const double* v = x.panel(p);
    walk.apply(ChebyshevFilter::identity(), v, y, work);
    // Two sums over rows per column, in ranges of fixed length added in order.
    constexpr int64_t kRange = 4096;
    const int64_t ranges = (rows + kRange - 1) / kRange;
    std::vector<double> partial(ranges * kPanel, 0.0);
    const auto column_sums = [&](const auto& term) {
      std::fill(partial.begin(), partial.end(), 0.0);
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads.count)
      for (int64_t range = 0; range < ranges; ++range) {
        double* sums = partial.data() + range * kPanel;
        for (int64_t i = range * kRange; i < std::min(rows, (range + 1) * kRange); ++i) {
          for (int64_t c = 0; c < kPanel; ++c) sums[c] += term(i * kPanel + c, c);
        }
      }
      std::vector<double> total(kPanel, 0.0);
      for (int64_t range = 0; range < ranges; ++range) {
        for (int64_t c = 0; c < kPanel; ++c) total[c] += partial[range * kPanel + c];
      }
      return total;
    };
    const std::vector<double> quotient = column_sums([&](int64_t at, int64_t) { return v[at] * y[at]; });
    const std::vector<double> square = column_sums([&](int64_t at, int64_t c) {
      const double difference = y[at] - quotient[c] * v[at];
      return difference * difference;
    });
    for (int64_t c = 0; c < kPanel; ++c) {
      pairs.values.push_back(quotient[c]);
      pairs.residuals.push_back(std::sqrt(square[c]));
    }
  }
  return pairs;
}

// The Rayleigh-Ritz step on all columns but the first, which is known.
void improve(const WalkOperator& walk, Matrix64& x, Matrix64& product, Matrix64& work, Threads threads) {
  const int64_t n = x.panels() * kPanel;
  std::vector<double> matrix = projected(
      x,
      [&](int64_t p) {
        walk.apply(ChebyshevFilter::identity(), static_cast<const double*>(x.panel(p)), product.panel(0), work);
        return product.panel(0);
      },
      threads);
  for (int64_t i = 0; i < n; ++i)
    matrix[i] = matrix[i * n] = i == 0 ? 2.0 : 0.0;  // above all others, so it comes first
  const SymmetricEigen eigen = symmetric_eigen(matrix, n, threads);
  std::vector<double> factor(n * n);
  for (int64_t j = 0; j < n; ++j) {
    for (int64_t i = 0; i < n; ++i) factor[i * n + j] = eigen.vectors[(n - 1 - j) * n + i];
  }
  rotate(x, x.panels(), x.panels(), factor, threads);
}

// D^1/2, of length one.
std::vector<double> known_vector(const LaplacianGraph& graph) {
  std::vector<double> known(graph.num_nodes());
  const double length = std::sqrt(graph.volume());
  for (int64_t i = 0; i < graph.num_nodes(); ++i) known[i] = std::sqrt(graph.strength(i)) / length;
  return known;
}

}  // namespace

template <class T>
ComponentSolution check_ritz_vectors(const WalkOperator& walk, PanelMatrix<T> basis, int64_t panels, int64_t count,
                                     double tolerance, Threads threads) {
  const int64_t rows = basis.rows(), n = panels * kPanel;
  Matrix64 x(rows, panels);
#pragma omp parallel for schedule(static) num_threads(threads.count)
  for (int64_t p = 0; p < panels; ++p) std::copy_n(basis.panel(p), rows * kPanel, x.panel(p));
  { const PanelMatrix<T> released = std::move(basis); }
  Matrix64 product(rows, 1), work(rows, 2);

  // Turn the columns so that the first is the known eigenvector D^1/2, then make them orthonormal.
  const std::vector<double> known = known_vector(walk.graph());
  std::fill_n(product.panel(0), rows * kPanel, 0.0);
  for (int64_t i = 0; i < rows; ++i) product.at(i, 0) = known[i];
  const PanelBlocks shares = project(x, {0, panels}, static_cast<const double*>(product.panel(0)), threads);
  std::vector<double> share(n);
  for (int64_t i = 0; i < n; ++i) share[i] = shares[i * kPanel];
  const std::vector<double> turn = reflection_to(share);
  const std::vector<double> overlaps = projected(
      x, [&](int64_t p) { return x.panel(p); }, threads);
  const std::vector<double> turned = graphpae::product(turn, graphpae::product(overlaps, turn, n), n);
  rotate(x, panels, panels, graphpae::product(turn, inverse_cholesky(turned, n), n), threads);
  for (int64_t i = 0; i < rows; ++i) x.at(i, 0) = known[i];

  Pairs pairs = measure(walk, x, product, work, threads);
  if (*std::max_element(pairs.residuals.begin(), pairs.residuals.begin() + count) > tolerance) {
    improve(walk, x, product, work, threads);
    for (int64_t i = 0; i < rows; ++i) x.at(i, 0) = known[i];
    pairs = measure(walk, x, product, work, threads);
  }
  pairs.values[0] = 1.0;

  ComponentSolution solution;
  solution.num_nodes = rows;
  std::vector<int64_t> order(n);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int64_t a, int64_t b) { return pairs.values[a] > pairs.values[b]; });
  solution.eigenvectors.resize(rows * count);
  for (int64_t j = 0; j < count; ++j) {
    solution.eigenvalues.push_back(1.0 - pairs.values[order[j]]);
    solution.residuals.push_back(pairs.residuals[order[j]]);
    solution.converged = solution.converged && solution.residuals.back() <= tolerance;
  }
#pragma omp parallel for schedule(static) num_threads(threads.count)
  for (int64_t i = 0; i < rows; ++i) {
    for (int64_t j = 0; j < count; ++j) solution.eigenvectors[i * count + j] = x.at(i, order[j]);
  }
  return solution;
}

template ComponentSolution check_ritz_vectors(const WalkOperator&, PanelMatrix<float>, int64_t, int64_t, double,
                                              Threads);
template ComponentSolution check_ritz_vectors(const WalkOperator&, PanelMatrix<double>, int64_t, int64_t, double,
                                              Threads);

}  // namespace graphpae
