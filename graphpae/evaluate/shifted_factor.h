// ShiftedFactor: solves (h Q + penalty I) x = b for a symmetric matrix Q without negative eigenvalues, in float32:
// close enough to make a search short, not to be its result.
#pragma once

#include <cstdint>

#include "graphpae/core/buffer.h"
#include "graphpae/core/threads.h"

namespace graphpae {

class ShiftedFactor {
 public:
  // q [n,n]. Where rounding makes the sum indefinite, more is added to its diagonal. Throws a numerical error if q
  // holds values that are not finite.
  void factorise(const Buffer<float>& q, int64_t n, double h, double penalty, Threads threads);

  bool empty() const { return n_ == 0; }
  // x [n,c] is b before and the solution after.
  void solve(float* x, int64_t c, Threads threads) const;

 private:
  bool try_factorise(Threads threads);

  int64_t n_ = 0;
  Buffer<float> l_;  // [n,n] Cholesky factor L below the diagonal, mirrored above
};

}  // namespace graphpae
