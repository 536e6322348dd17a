// BlockKrylov: an orthonormal basis V of a block Krylov space of M = p(S), grown 16 columns at a time, and the
// Rayleigh-Ritz approximations in it. Thick restarts shrink it to its best vectors and go on from there.
//
// Between calls, with the n panels of V in use (16n columns) and Q the pending panel,
//   M V = V H + Q C + F,   V^T V = I,   V^T Q = 0,
// where H = V^T M V, C = Q^T M V, and F is what restart_at_random() and change_filter() left behind (zero before).
// The first column of the first panel is the known eigenvector D^1/2 of S.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "graphpae/core/rng.h"
#include "graphpae/core/threads.h"
#include "graphpae/positions/chebyshev_filter.h"
#include "graphpae/positions/panel_matrix.h"
#include "graphpae/positions/walk_operator.h"

namespace graphpae {

// Sizes of a basis for `count` pairs, in panels.
struct BasisPlan {
  BasisPlan(int64_t num_nodes, int64_t count, bool float64) {
    kept = (count + kPanel - 1) / kPanel;
    max = std::min(float64 ? 2 * kept + 6 : (5 * kept + 1) / 2 + 6, num_nodes / kPanel - 2);
    restart = std::min(kept + std::max<int64_t>(1, (max - kept) / 3), max - 1);
  }
  int64_t kept;     // the wanted pairs
  int64_t restart;  // what a restart keeps
  int64_t max;
};

// Rayleigh-Ritz approximations, largest value of M first.
struct RitzPairs {
  int64_t size = 0;
  std::vector<double> values;     // [size] of M
  std::vector<double> residuals;  // [size] bounds of ||M x - value x||, up to rounding
  std::vector<double> vectors;    // [size,size] coefficients in V: vectors[j * size + i] is entry i of pair j
};

template <class T>
class BlockKrylov {
 public:
  // `max_panels` bounds n; the memory is max_panels + 3 panels. The operator must outlive this object.
  BlockKrylov(const WalkOperator& walk, const ChebyshevFilter& filter, int64_t max_panels, Rng rng, Threads threads);

  int64_t panels() const { return size_; }
  int64_t max_panels() const { return max_panels_; }
  const ChebyshevFilter& filter() const { return filter_; }

  // V and the pending panel, given away: nothing can be done with this object afterwards.
  PanelMatrix<T> take_basis() { return std::move(basis_); }

  // Adds the pending panel to V and makes the next one: one product with M. Needs panels() < max_panels(). Directions
  // that do not lead out of the space (a multiple eigenvalue, an invariant space) are replaced by random ones.
  void extend();

  // Rayleigh-Ritz on panels first .. panels()-1 alone.
  RitzPairs ritz(int64_t first = 0) const;

  // Keeps the first 16 `keep` pairs of `pairs` = ritz() as the new V. keep < panels().
  void restart(const RitzPairs& pairs, int64_t keep);

  // Keeps the first `count` pairs only, taken for exact, and goes on from random directions: whole panels of them stay
  // in V, the rest starts the pending panel. Columns 0 .. count-1 of the basis then hold the pairs until the next
  // restart.
  void restart_at_random(const RitzPairs& pairs, int64_t count);

  // Keeps the first `exact` pairs, taken for exact, and goes on with another filter: whole panels of them stay in V,
  // the rest starts the pending panel, which is completed with mixtures of the pairs up to panel `keep`. exact < 16
  // keep, keep < panels().
  void change_filter(const ChebyshevFilter& filter, const RitzPairs& pairs, int64_t exact, int64_t keep);

 private:
  // Makes panel `slot` orthonormal and orthogonal to the panels before it; returns R, [16,16], with
  // (panel before) = V (...) + (panel after) R. Directions shorter than `noise` are replaced by random ones.
  PanelBlocks orthonormalise(int64_t slot, double noise);
  // w -= V (V^T w) for a range of panels; returns V^T w.
  PanelBlocks make_orthogonal(PanelRange range, T* w);
  void fill_random(int64_t slot, int64_t column);
  // Fills columns first .. 15 of a panel with random directions, orthonormal to all before them.
  void complete_at_random(int64_t slot, int64_t first);
  // Makes panel `slot` orthonormal and orthogonal to the panels before it, each column in terms of those before it. Its
  // columns must be far from dependent.
  void orthonormalise_in_order(int64_t slot);

  double& h(int64_t row, int64_t column) { return h_[row * capacity_ + column]; }
  double h(int64_t row, int64_t column) const { return h_[row * capacity_ + column]; }

  const WalkOperator& walk_;
  ChebyshevFilter filter_;
  int64_t max_panels_;
  int64_t capacity_;  // columns
  Rng rng_;
  Threads threads_;
  double largest_;               // eigenvalue of M that is not locked, an upper bound
  uint64_t random_columns_ = 0;  // drawn so far

  PanelMatrix<T> basis_;
  PanelMatrix<T> work_;
  int64_t size_ = 0;
  int64_t restarted_at_ = 0;      // panels of V right after the last restart
  std::vector<double> h_;         // [capacity,capacity]
  std::vector<double> coupling_;  // C, [16,capacity]
  std::vector<double> lost_;      // [capacity] bounds of the column norms of F
};

}  // namespace graphpae
