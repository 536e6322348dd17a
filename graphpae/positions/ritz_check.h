// The last step of the block solver: its vectors made orthonormal in float64, with their true residuals.
#pragma once

#include <cstdint>

#include "graphpae/core/threads.h"
#include "graphpae/positions/component_solvers.h"
#include "graphpae/positions/panel_matrix.h"
#include "graphpae/positions/walk_operator.h"

namespace graphpae {

// Takes the first `panels` panels of `basis`, approximate eigenvectors of S with the largest eigenvalues, and returns
// the `count` pairs of L with the smallest eigenvalues; the first is the known one, exactly. If a residual exceeds
// `tolerance`, a Rayleigh-Ritz step in float64 tries to lower it. The residuals are those of the vectors returned. The
// memory of `basis` is released early.
template <class T>
ComponentSolution check_ritz_vectors(const WalkOperator& walk, PanelMatrix<T> basis, int64_t panels, int64_t count,
                                     double tolerance, Threads threads);

}  // namespace graphpae
