#include "graphpae/analyze/graph_fourier.h"

#include <algorithm>
#include <cmath>

#include "graphpae/core/error.h"
#include "graphpae/positions/laplacian_positions.h"

namespace graphpae {

FourierBasis fourier_basis(const Adjacency& graph, int64_t k, Threads threads) {
  PositionOptions options;
  const bool all = k <= 0 || k >= graph.num_nodes();
  options.k = all ? graph.num_nodes() : k;
  if (all) options.solver = PositionSolver::dense;
  Positions positions = laplacian_positions(graph, options, threads);
  if (positions.status != PositionStatus::converged)
    throw numerical_error("the eigenvectors of the graph could not be computed to the tolerance");
  return {positions.num_nodes, positions.k, std::move(positions.eigenvalues), std::move(positions.eigenvectors)};
}

FrequencyContent frequency_content(const FourierBasis& basis, const Features& signal, std::span<const char> hidden,
                                   Threads threads) {
  constexpr int64_t kBlock = 32;  // eigenvectors at a time
  const int64_t n = basis.num_nodes, k = basis.k, d = signal.columns(), blocks = (k + kBlock - 1) / kBlock;
  FrequencyContent content;
  for (auto* values : {&content.magnitude, &content.of_the_mean, &content.energy}) values->assign(k, 0.0);
#pragma omp parallel num_threads(threads.count)
  {
    std::vector<double> products(static_cast<size_t>(d * kBlock));  // [d,kBlock] X^T u
#pragma omp for schedule(dynamic)
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t first = block * kBlock, width = std::min(kBlock, k - first);
      std::fill(products.begin(), products.end(), 0.0);
      const auto add = [&](const double* u, int64_t column, double value) {
        double* to = products.data() + column * kBlock;
        for (int64_t j = 0; j < width; ++j) to[j] += value * u[j];
      };
      for (int64_t i = 0; i < n; ++i) {
        if (!hidden.empty() && hidden[i]) continue;
        const double* u = basis.vectors.data() + i * k + first;
        if (signal.is_sparse()) {
          const SparseRow row = signal.sparse_row(i);
          for (size_t e = 0; e < row.columns.size(); ++e) add(u, row.columns[e], row.values[e]);
        } else {
          const std::span<const float> row = signal.dense_row(i);
          for (int64_t c = 0; c < d; ++c) add(u, c, row[c]);
        }
      }
      for (int64_t j = 0; j < width; ++j) {
        double sum = 0, absolute = 0, squares = 0;
        for (int64_t c = 0; c < d; ++c) {
          const double value = products[c * kBlock + j];
          sum += value;
          absolute += std::abs(value);
          squares += value * value;
        }
        content.magnitude[first + j] = absolute / static_cast<double>(d);
        content.of_the_mean[first + j] = std::abs(sum) / static_cast<double>(d);
        content.energy[first + j] = squares;
      }
    }
  }
  return content;
}

size_t band_of(double eigenvalue, double width) {
  const size_t last = static_cast<size_t>(std::ceil(2 / width - 1e-9)) - 1;
  // An eigenvalue on a border belongs to the band above it, rounding aside.
  return std::min(last, static_cast<size_t>(std::max(0.0, std::floor(eigenvalue / width + 1e-9))));
}

std::vector<double> band_means(std::span<const double> eigenvalues, std::span<const double> values, double width,
                               size_t bands) {
  std::vector<double> sums(bands, 0), counts(bands, 0);
  for (size_t k = 0; k < eigenvalues.size(); ++k) {
    const size_t band = band_of(eigenvalues[k], width);
    if (band >= bands) continue;
    sums[band] += values[k];
    ++counts[band];
  }
  for (size_t b = 0; b < bands; ++b) sums[b] /= counts[b];  // NaN where there are none
  return sums;
}

}  // namespace graphpae
