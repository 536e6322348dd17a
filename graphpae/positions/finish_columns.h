// What is done to eigenvectors after they are found: sign and normalisation.
#pragma once

#include <cstdint>
#include <span>

#include "graphpae/core/threads.h"
#include "graphpae/positions/laplacian_positions.h"

namespace graphpae {

// `vectors` is [N,stride] row-major; the first `columns` columns belong to `eigenvalues`.
// Signs: the first entry whose magnitude is within 0.1 % of the largest becomes positive.
void fix_signs(std::span<double> vectors, int64_t stride, int64_t columns, Threads threads);

void normalise_columns(std::span<double> vectors, int64_t stride, std::span<const double> eigenvalues,
                       PositionNormalisation normalisation, Threads threads);

}  // namespace graphpae
