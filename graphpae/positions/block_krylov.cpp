#include "graphpae/positions/block_krylov.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "graphpae/positions/small_matrix.h"
#include "graphpae/positions/symmetric_eigen.h"

namespace graphpae {
namespace {

constexpr int kMaxRounds = 10;

// A product with M leaves errors of about this size, relative to the largest eigenvalue of M: shorter directions
// carry no information.
template <class T>
constexpr double kNoise = 16.0 * std::numeric_limits<T>::epsilon();

double deviation_from_identity(const PanelBlocks& g) {
  double largest = 0;
  for (int64_t i = 0; i < kPanel; ++i) {
    for (int64_t j = 0; j < kPanel; ++j) largest = std::max(largest, std::abs(g[i * kPanel + j] - (i == j)));
  }
  return largest;
}

}  // namespace

template <class T>
BlockKrylov<T>::BlockKrylov(const WalkOperator& walk, const ChebyshevFilter& filter, int64_t max_panels, Rng rng,
                            Threads threads)
    : walk_(walk),
      filter_(filter),
      max_panels_(max_panels),
      capacity_(max_panels * kPanel),
      rng_(rng),
      threads_(threads),
      largest_(filter.value(1.0)),
      basis_(walk.num_nodes(), max_panels + 1),
      work_(walk.num_nodes(), 2),
      h_(capacity_ * capacity_, 0.0),
      coupling_(kPanel * capacity_, 0.0),
      lost_(capacity_, 0.0) {
  const LaplacianGraph& graph = walk.graph();
  const double length = std::sqrt(graph.volume());
  for (int64_t i = 0; i < graph.num_nodes(); ++i) {
    basis_.at(i, 0) = static_cast<T>(std::sqrt(graph.strength(i)) / length);
  }
  complete_at_random(0, 1);
}

template <class T>
void BlockKrylov<T>::complete_at_random(int64_t slot, int64_t first) {
  for (int64_t c = first; c < kPanel; ++c) fill_random(slot, c);
  orthonormalise_in_order(slot);
}

template <class T>
void BlockKrylov<T>::orthonormalise_in_order(int64_t slot) {
  T* w = basis_.panel(slot);
  for (int round = 0; round < 3; ++round) {
    if (slot > 0) make_orthogonal({0, slot}, w);
    multiply_panel(w, basis_.rows(), inverse_cholesky(gram(w, basis_.rows(), threads_), kPanel), threads_);
  }
}

template <class T>
void BlockKrylov<T>::fill_random(int64_t slot, int64_t column) {
  const uint64_t start = random_columns_++ * static_cast<uint64_t>(basis_.rows());
  T* panel = basis_.panel(slot) + column;
  const T size = static_cast<T>(std::sqrt(12.0 / static_cast<double>(basis_.rows())));  // expected length one
#pragma omp parallel for schedule(static) num_threads(threads_.count)
  for (int64_t i = 0; i < basis_.rows(); ++i) {
    panel[i * kPanel] = size * static_cast<T>(rng_.uniform(start + static_cast<uint64_t>(i)) - 0.5);
  }
}

template <class T>
PanelBlocks BlockKrylov<T>::make_orthogonal(PanelRange range, T* w) {
  PanelBlocks coefficients = project(basis_, range, static_cast<const T*>(w), threads_);
  subtract(basis_, range, coefficients, w, threads_);
  return coefficients;
}

template <class T>
PanelBlocks BlockKrylov<T>::orthonormalise(int64_t slot, double noise) {
  T* w = basis_.panel(slot);
  const int64_t rows = basis_.rows();
  PanelBlocks r(kBlockSize, 0.0);
  for (int64_t i = 0; i < kPanel; ++i) r[i * kPanel + i] = 1.0;

  // The eigenvectors of W^T W turn the columns so that they are orthogonal. Rounding hides directions much shorter than
  // the longest: those are enlarged by a bounded factor, made orthogonal to V again, and looked at anew. The second
  // look tells noise from short directions; noise is replaced once.
  const double max_growth = 0.1 / std::sqrt(static_cast<double>(std::numeric_limits<T>::epsilon()));
  const double close = 64.0 * static_cast<double>(std::numeric_limits<T>::epsilon());
  bool against_basis = false, suspicious = false;
  for (int round = 0; round < kMaxRounds; ++round) {
    if (against_basis && slot > 0) {
      make_orthogonal({0, slot}, w);
    }
    const PanelBlocks g = gram(w, rows, threads_);
    if (!suspicious && deviation_from_identity(g) < close) break;
    const SymmetricEigen eigen = symmetric_eigen(g, kPanel);
    const double largest = std::sqrt(std::max(eigen.values.back(), std::numeric_limits<double>::min()));
    PanelBlocks factor(kBlockSize), back(kBlockSize);
    std::vector<double> shrink(kPanel);  // length of a column after this round
    for (int64_t j = 0; j < kPanel; ++j) {
      const double length = std::sqrt(std::max(eigen.values[j], 0.0));
      const double divisor = std::max(length, largest / max_growth);
      shrink[j] = length / divisor;
      for (int64_t i = 0; i < kPanel; ++i) {
        factor[i * kPanel + j] = eigen.vectors[j * kPanel + i] / divisor;
        back[j * kPanel + i] = eigen.vectors[j * kPanel + i] * divisor;
      }
    }
    r = product(back, r, kPanel);
    multiply_panel(w, rows, factor, threads_);
    against_basis = eigen.values.front() < 0.01 * eigen.values.back();
    if (noise == 0) continue;
    bool replaced = false;
    for (int64_t j = 0; j < kPanel; ++j) {
      double length = 0;
      for (int64_t i = 0; i < kPanel; ++i) length = std::hypot(length, r[j * kPanel + i]);
      if (shrink[j] * length > noise) continue;
      if (round > 0) {
        std::fill_n(r.begin() + j * kPanel, kPanel, 0.0);
        fill_random(slot, j);
        replaced = true;
      } else {
        suspicious = true;
      }
    }
    against_basis = against_basis || suspicious || replaced;
    if (round > 0) {
      suspicious = false;
      noise = 0;
    }
  }
  return r;
}

template <class T>
void BlockKrylov<T>::extend() {
  const int64_t n = size_++;
  T* w = basis_.panel(n + 1);
  walk_.apply(filter_, static_cast<const T*>(basis_.panel(n)), w, work_);

  // Gram-Schmidt twice. The recurrence has three terms: but for rounding, M times the pending panel meets the last two
  // panels only (after a restart, once, all that were kept), so the first time need not look at the others.
  for (int64_t i = 0; i < (n + 1) * kPanel; ++i) {
    for (int64_t c = 0; c < kPanel; ++c) h(i, n * kPanel + c) = 0;
  }
  for (const PanelRange range : {PanelRange{n == restarted_at_ ? 0 : n - 1, n + 1}, PanelRange{0, n + 1}}) {
    const PanelBlocks coefficients = make_orthogonal(range, w);
    for (int64_t i = 0; i < range.count() * kPanel; ++i) {
      for (int64_t c = 0; c < kPanel; ++c) h(range.first * kPanel + i, n * kPanel + c) += coefficients[i * kPanel + c];
    }
  }
  for (int64_t i = 0; i < (n + 1) * kPanel; ++i) {
    for (int64_t c = 0; c < kPanel; ++c) h(n * kPanel + c, i) = h(i, n * kPanel + c);
  }
  const double noise = kNoise<T> * largest_;
  const PanelBlocks r = orthonormalise(n + 1, noise);
  std::fill(coupling_.begin(), coupling_.end(), 0.0);
  for (int64_t i = 0; i < kPanel; ++i) {
    for (int64_t c = 0; c < kPanel; ++c) coupling_[i * capacity_ + n * kPanel + c] = r[i * kPanel + c];
  }
}

template <class T>
RitzPairs BlockKrylov<T>::ritz(int64_t first) const {
  RitzPairs pairs;
  const int64_t begin = first * kPanel;
  const int64_t n = size_ * kPanel - begin;
  std::vector<double> matrix(n * n);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < n; ++j) matrix[i * n + j] = h(begin + i, begin + j);
  }
  const SymmetricEigen eigen = symmetric_eigen(matrix, n, threads_);
  pairs.size = n;
  pairs.values.assign(eigen.values.rbegin(), eigen.values.rend());
  pairs.vectors.resize(n * n);
  pairs.residuals.resize(n);
  for (int64_t j = 0; j < n; ++j) {
    const double* vector = eigen.vectors.data() + (n - 1 - j) * n;
    std::copy_n(vector, n, pairs.vectors.begin() + j * n);
    double square = 0, lost = 0;
    for (int64_t r = 0; r < kPanel; ++r) {
      double sum = 0;
      for (int64_t i = 0; i < n; ++i) sum += coupling_[r * capacity_ + begin + i] * vector[i];
      square += sum * sum;
    }
    for (int64_t i = 0; i < n; ++i) lost += lost_[begin + i] * std::abs(vector[i]);
    pairs.residuals[j] = std::sqrt(square) + lost;
  }
  return pairs;
}

template <class T>
void BlockKrylov<T>::restart(const RitzPairs& pairs, int64_t keep) {
  const int64_t n = pairs.size, kept = keep * kPanel;
  std::vector<double> factor(n * kept);
  for (int64_t j = 0; j < kept; ++j) {
    for (int64_t i = 0; i < n; ++i) factor[i * kept + j] = pairs.vectors[j * n + i];
  }
  rotate(basis_, size_, keep, factor, threads_);
  std::copy_n(basis_.panel(size_), basis_.rows() * kPanel, basis_.panel(keep));

  std::vector<double> coupling(kPanel * capacity_, 0.0), lost(capacity_, 0.0);
  for (int64_t j = 0; j < kept; ++j) {
    const double* vector = pairs.vectors.data() + j * n;
    for (int64_t r = 0; r < kPanel; ++r) {
      for (int64_t i = 0; i < n; ++i) coupling[r * capacity_ + j] += coupling_[r * capacity_ + i] * vector[i];
    }
    for (int64_t i = 0; i < n; ++i) lost[j] += lost_[i] * std::abs(vector[i]);
  }
  coupling_ = std::move(coupling);
  lost_ = std::move(lost);
  std::fill(h_.begin(), h_.end(), 0.0);
  for (int64_t j = 0; j < kept; ++j) h(j, j) = pairs.values[j];
  size_ = keep;
  restarted_at_ = keep;
}

template <class T>
void BlockKrylov<T>::restart_at_random(const RitzPairs& pairs, int64_t count) {
  const int64_t keep = (count + kPanel - 1) / kPanel, locked = count / kPanel;
  restart(pairs, keep);
  for (int64_t i = 0; i < locked * kPanel; ++i) lost_[i] = pairs.residuals[i];
  std::fill(lost_.begin() + locked * kPanel, lost_.end(), 0.0);
  std::fill(coupling_.begin(), coupling_.end(), 0.0);
  for (int64_t i = locked * kPanel; i < keep * kPanel; ++i) h(i, i) = 0;
  size_ = locked;
  restarted_at_ = locked;
  complete_at_random(locked, count % kPanel);
}

template <class T>
void BlockKrylov<T>::change_filter(const ChebyshevFilter& filter, const RitzPairs& pairs, int64_t exact, int64_t keep) {
  const int64_t locked = exact / kPanel, begun = exact % kPanel;
  restart(pairs, keep);
  std::fill(h_.begin(), h_.end(), 0.0);
  std::fill(coupling_.begin(), coupling_.end(), 0.0);
  std::fill(lost_.begin(), lost_.end(), 0.0);
  for (int64_t i = 0; i < locked * kPanel; ++i) {
    const double value = filter_.inverse(pairs.values[i]);  // of S
    h(i, i) = filter.value(value);
    lost_[i] = pairs.residuals[i] / filter_.slope(value) * filter.slope(value);
  }
  T* w = basis_.panel(locked);
  for (int64_t p = locked + 1; p < keep; ++p) {
    const T* v = basis_.panel(p);
#pragma omp parallel for schedule(static) num_threads(threads_.count)
    for (int64_t i = 0; i < basis_.rows(); ++i) {
      for (int64_t c = begun; c < kPanel; ++c) w[i * kPanel + c] += v[i * kPanel + c];
    }
  }
  largest_ = filter.value(filter_.inverse(pairs.values[exact]));
  filter_ = filter;
  size_ = locked;
  restarted_at_ = locked;
  orthonormalise_in_order(locked);
}

template class BlockKrylov<float>;
template class BlockKrylov<double>;

}  // namespace graphpae
