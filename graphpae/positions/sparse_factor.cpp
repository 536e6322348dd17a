#include "graphpae/positions/sparse_factor.h"

#include <Eigen/SparseCholesky>
#include <cmath>

namespace graphpae {
namespace {

using Matrix = Eigen::SparseMatrix<double, Eigen::ColMajor, int>;

// The lower triangle of L - shift I.
Matrix shifted_laplacian(const LaplacianGraph& graph, double shift) {
  const int n = static_cast<int>(graph.num_nodes());
  Matrix matrix(n, n);
  std::vector<Eigen::Triplet<double, int>> entries;
  entries.reserve(graph.neighbours.size() / 2 + n);
  for (int i = 0; i < n; ++i) {
    double diagonal = 1.0 - shift;
    for (int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
      const int32_t j = graph.neighbours[e];
      const double weight = graph.weight(e) / std::sqrt(graph.strength(i) * graph.strength(j));
      if (j < i) entries.emplace_back(i, j, -weight);
      if (j == i) diagonal -= weight;
    }
    entries.emplace_back(i, i, diagonal);
  }
  matrix.setFromTriplets(entries.begin(), entries.end());
  return matrix;
}

}  // namespace

struct SparseFactor::State : Eigen::SimplicialLDLT<Matrix, Eigen::Lower, Eigen::AMDOrdering<int>> {
  int64_t fill() const { return m_nonZerosPerCol.template cast<int64_t>().sum(); }
};

SparseFactor::SparseFactor(const LaplacianGraph& graph) : graph_(graph), state_(std::make_unique<State>()) {
  state_->analyzePattern(shifted_laplacian(graph, 0.0));
}

SparseFactor::~SparseFactor() = default;

int64_t SparseFactor::fill() const { return state_->fill(); }

bool SparseFactor::factor(double shift) {
  state_->factorize(shifted_laplacian(graph_, shift));
  return state_->info() == Eigen::Success && state_->vectorD().allFinite() &&
         state_->vectorD().cwiseAbs().minCoeff() > 1e-14;
}

int64_t SparseFactor::negative_pivots() const { return (state_->vectorD().array() < 0).count(); }

void SparseFactor::solve(const double* in, double* out, Threads threads) const {
  // Quarters of the panel are independent; a row of one is a short vector.
  constexpr int64_t kWidth = kPanel / 4;
  const Matrix& factor = state_->matrixL().nestedExpression();
  const Eigen::VectorXd pivots = state_->vectorD();
  const auto& order = state_->permutationP().indices();  // node i is row order[i] of F
  const int n = static_cast<int>(graph_.num_nodes());
  parallel_tasks(threads, 4, [&](int64_t quarter) {
    std::vector<double> x(static_cast<size_t>(n) * kWidth);
    for (int i = 0; i < n; ++i) {
      for (int64_t c = 0; c < kWidth; ++c) x[order[i] * kWidth + c] = in[i * kPanel + quarter * kWidth + c];
    }
    for (int j = 0; j < n; ++j) {
      const double* from = x.data() + j * kWidth;
      for (Matrix::InnerIterator entry(factor, j); entry; ++entry) {
        if (entry.row() == j) continue;
        double* to = x.data() + entry.row() * kWidth;
        for (int64_t c = 0; c < kWidth; ++c) to[c] -= entry.value() * from[c];
      }
    }
    for (int j = n - 1; j >= 0; --j) {
      double* to = x.data() + j * kWidth;
      for (int64_t c = 0; c < kWidth; ++c) to[c] /= pivots[j];
      for (Matrix::InnerIterator entry(factor, j); entry; ++entry) {
        if (entry.row() == j) continue;
        const double* from = x.data() + entry.row() * kWidth;
        for (int64_t c = 0; c < kWidth; ++c) to[c] -= entry.value() * from[c];
      }
    }
    for (int i = 0; i < n; ++i) {
      for (int64_t c = 0; c < kWidth; ++c) out[i * kPanel + quarter * kWidth + c] = x[order[i] * kWidth + c];
    }
  });
}

}  // namespace graphpae
