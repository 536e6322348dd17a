// t-SNE: points of a plane whose neighbours are those of the rows (van der Maaten and Hinton 2008), with forces
// approximated on a quadtree (van der Maaten 2014).
//
// The result is a pure function of rows and options, whatever the number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "graphpae/core/threads.h"

namespace graphpae {

struct NeighbourEmbeddingOptions {
  double perplexity = 30;  // about how many neighbours count; less for few rows
  int64_t iterations = 500;
  double theta = 0.5;  // how coarse the approximation is; 0: exact
  std::function<void(int64_t done, int64_t total)> progress;
};

// rows [N,D] row-major, the first two columns are where points start (principal components). Returns [N,2].
std::vector<double> neighbour_embedding(std::span<const double> rows, int64_t n, int64_t d,
                                        const NeighbourEmbeddingOptions& options, Threads threads);

}  // namespace graphpae
