// Positions of a graph given as rows of neighbours: what laplacian_positions and position_batch share, and what is done
// to eigenvectors after they are found (finish_columns.cpp).
#pragma once

#include <cstdint>
#include <span>

#include "graphpae/core/adjacency.h"
#include "graphpae/core/threads.h"
#include "graphpae/positions/laplacian_graph.h"
#include "graphpae/positions/laplacian_positions.h"

namespace graphpae {

// Throws usage errors.
void check_options(const PositionOptions& options);

Positions solve_graph(const LaplacianGraph& graph, const PositionOptions& options, Threads threads,
                      const PositionCallback& progress);

// `vectors` is [N,stride] row-major; the first `columns` columns belong to `eigenvalues`.
// Signs: the first entry whose magnitude is within 0.1 % of the largest becomes positive.
void fix_signs(std::span<double> vectors, int64_t stride, int64_t columns, Threads threads);

void normalise_columns(std::span<double> vectors, int64_t stride, std::span<const double> eigenvalues,
                       PositionNormalisation normalisation, Threads threads);

}  // namespace graphpae
