// KernelRidge: ridge regression on centred similarities, for one penalty after another:
//   min |Y - mean(Y) - K a|^2 + penalty a^T K a.
// Classes are learnt as numbers 0 and 1, a column each.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "graphpae/core/buffer.h"
#include "graphpae/core/threads.h"
#include "graphpae/evaluate/shifted_factor.h"

namespace graphpae {

class KernelRidge {
 public:
  // k [n,n]: similarities of the training rows. Throws a data error without rows.
  KernelRidge(Buffer<float> k, int64_t n, Threads threads);

  // targets [n,T]; returns weights [n,T], for predict(). `penalty` is in units of the mean squared length of a row.
  struct Weights {
    std::vector<double> mean;  // [T]
    Buffer<float> values;      // [n,T]
    int64_t outputs() const { return static_cast<int64_t>(mean.size()); }
  };
  std::vector<Weights> solve(std::span<const double> targets, int64_t outputs, std::span<const double> penalties) const;

  // Nothing can be solved after this, but predicted.
  void forget_products() { k_ = {}; }

  // k [m,n]: similarities of other rows with the training rows; they are centred in place, once for all penalties.
  void centre(Buffer<float>& k, int64_t m) const;
  // [m,T] of centred rows.
  std::vector<float> predict(const Buffer<float>& centred, int64_t m, const Weights& weights) const;

 private:
  int64_t n_;
  Threads threads_;
  Buffer<float> k_;            // [n,n] centred
  std::vector<double> means_;  // [n] of the columns before
  double mean_ = 0, length_ = 1;
};

}  // namespace graphpae
