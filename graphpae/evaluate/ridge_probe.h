// The probe of numbers: rows scaled (to length one, unless asked otherwise), then ridge regression with a free
// intercept,
//   min |y - X w - b|^2 + penalty |w|^2,
// the penalty chosen by the mean over folds of the negative RMSE.
//
// In float64. All penalties of a fold come from one factorisation, the eigenvectors of the centred Gram matrix: of the
// columns, X^T X, or of the rows, X X^T, if there are fewer of them. X^T X without a fold is the sum of those of the
// other folds, so each row is multiplied once. Same bits for any number of threads.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphpae/core/features.h"
#include "graphpae/core/threads.h"
#include "graphpae/evaluate/cross_validation.h"

namespace graphpae {

enum class RowScaling {
  length,   // rows of length one
  columns,  // columns standardised on the training rows, then all by one factor: training rows of mean squared length 1
};

// Fits `tasks` probes, one per column of targets [train,tasks], on the rows `train` of X and predicts the rows `asked`.
// Throws a data error if there are fewer training rows than folds.
std::vector<FittedProbe> ridge_probe(const Features& rows, std::span<const int32_t> train,
                                     std::span<const double> targets, int64_t tasks, std::span<const int32_t> asked,
                                     Threads threads, RowScaling scaling = RowScaling::length);

}  // namespace graphpae
