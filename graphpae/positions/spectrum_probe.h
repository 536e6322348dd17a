// A quick look at the spectrum of S = I - L, to choose the filter of the block solver.
#pragma once

#include <cstdint>

#include "graphpae/core/rng.h"
#include "graphpae/core/threads.h"
#include "graphpae/positions/chebyshev_filter.h"
#include "graphpae/positions/walk_operator.h"

namespace graphpae {

// Counts are good to some ten per cent.
struct SpectrumProbe {
  double lower_end = -1.0;   // no eigenvalue of S lies below, with a margin for what was not seen
  double last_wanted = 1.0;  // about `wanted` eigenvalues of S lie above
  double cut = 1.0;          // about 2.5 `wanted`
};

// From a few block Lanczos steps with random vectors: a quadrature of the spectral density.
SpectrumProbe probe_spectrum(const WalkOperator& walk, int64_t wanted, Rng rng, Threads threads);

// What a filter is to do. Eigenvalues of S above `first` are deflated and do not count, but for rounding.
struct FilterTask {
  double lower;        // no eigenvalue lies below
  double cut;          // eigenvalues between lower and cut are damped
  double first = 1.0;  // the largest eigenvalue wanted
  double last;         // the smallest eigenvalue wanted, about
  double tolerance;    // of residuals
};

// The filter whose degree is as high as is useful, and as rounding in float32 allows: errors are amplified like the
// largest eigenvalue, and must stay below the tolerance after division by the amplification of the smallest. The
// identity if there is none.
ChebyshevFilter design_filter(const WalkOperator& walk, const FilterTask& task);

}  // namespace graphpae
