// The leading part of a large matrix X [N,F] by random projection and two power iterations (Halko, Martinsson and
// Tropp, 2011): X V [N,R], V the leading right singular vectors as far as the iterations find them. Same bits for any
// number of threads.
#pragma once

#include <cstdint>
#include <functional>

#include "graphpae/core/buffer.h"
#include "graphpae/core/features.h"
#include "graphpae/core/threads.h"

namespace graphpae {

// X as its products: `times` writes X in [N,r] from in [F,r], `transposed` X^T in [F,r] from in [N,r].
struct MatrixProducts {
  int64_t rows = 0, columns = 0;
  std::function<void(const float*in, int64_t r, float*out)> times, transposed;
};

// [N,R] with R = min(rank, N, F); columns in order of their singular values, the largest first. Memory: about
// (2 N + F) (R + 8) floats beside X.
Buffer<float> leading_columns(const MatrixProducts& x, int64_t rank, uint64_t seed, Threads threads);

// Of features, dense or sparse.
Features leading_columns(const Features& x, int64_t rank, uint64_t seed, Threads threads);

}  // namespace graphpae
