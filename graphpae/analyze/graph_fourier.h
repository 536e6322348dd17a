// The graph Fourier transform: signals on nodes in the basis of Laplacian eigenvectors, X^s = U^T X.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/features.h"
#include "graphpae/core/threads.h"

namespace graphpae {

// The eigenvectors of L with the smallest eigenvalues, or all of them.
struct FourierBasis {
  int64_t num_nodes = 0, k = 0;     // N, K
  std::vector<double> eigenvalues;  // [K] ascending
  std::vector<double> vectors;      // [N,K] row-major

  bool whole() const { return k == num_nodes; }
};

// `k` <= 0: all N, by the dense solver. Throws a numerical error if they do not converge.
FourierBasis fourier_basis(const Adjacency& graph, int64_t k, Threads threads);

// What a signal X [N,d] has at each of K frequencies.
struct FrequencyContent {
  std::vector<double> magnitude;    // [K] mean over columns of |u^T x|
  std::vector<double> of_the_mean;  // [K] |mean over columns of u^T x|
  std::vector<double> energy;       // [K] sum over columns of (u^T x)^2
};

// `hidden` [N] or empty: rows of nodes that count as zero.
FrequencyContent frequency_content(const FourierBasis& basis, const Features& signal, std::span<const char> hidden,
                                   Threads threads);

// Bands of frequencies [0, width), [width, 2 width), ... 2, the last one with its end. The band of an eigenvalue:
size_t band_of(double eigenvalue, double width);
// All up to the highest eigenvalue of a basis, with their ends and how many eigenvalues are in each.
template <class Band>
std::vector<Band> bands_of(const FourierBasis& basis, double width) {
  std::vector<Band> bands(band_of(basis.eigenvalues.back(), width) + 1);
  for (size_t b = 0; b < bands.size(); ++b) {
    bands[b].low = static_cast<double>(b) * width;
    bands[b].high = std::min(2.0, bands[b].low + width);
  }
  for (const double value : basis.eigenvalues) ++bands[band_of(value, width)].eigenvalues;
  return bands;
}
// Averages of `values` [K] at `eigenvalues` [K] over the first bands; NaN where there are none.
std::vector<double> band_means(std::span<const double> eigenvalues, std::span<const double> values, double width,
                               size_t bands);

}  // namespace graphpae
