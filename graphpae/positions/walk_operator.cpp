#include "graphpae/positions/walk_operator.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "graphpae/kernels/row_ranges.h"

namespace graphpae {
namespace {

// Enough ranges to balance a few threads on a busy machine, each long enough to be worth the hand-over.
constexpr int64_t kRanges = 128;
constexpr int64_t kMinRangeWork = 1 << 14;
constexpr int64_t kRowWork = 4;  // a row costs about as much as this many neighbours

// kernels::walk_rows with weights.
template <class T>
void weighted_walk_rows(const LaplacianGraph& graph, const kernels::WalkStep<T>& step, int64_t first, int64_t last) {
  for (int64_t i = first; i < last; ++i) {
    T sum[kPanel] = {};
    for (int64_t e = graph.offsets[i]; e < graph.offsets[i + 1]; ++e) {
      const T weight = static_cast<T>(graph.weights[e]);
      const T* row = step.current + int64_t{graph.neighbours[e]} * kPanel;
      for (int64_t c = 0; c < kPanel; ++c) sum[c] += weight * row[c];
    }
    const T strength = static_cast<T>(graph.strength(i));
    const T scale = step.scale_by_root_degree ? std::sqrt(strength) : T{1};
    const T walk = scale * step.walk / strength, self = scale * step.self, past = scale * step.past;
    for (int64_t c = 0; c < kPanel; ++c) {
      const int64_t at = i * kPanel + c;
      T result = self * step.current[at] + walk * sum[c];
      if (step.past != T{0}) result += past * step.previous[at];
      step.out[at] = result;
    }
  }
}

}  // namespace

WalkOperator::WalkOperator(const LaplacianGraph& graph, Threads threads) : graph_(graph), threads_(threads) {
  const int64_t n = graph.num_nodes();
  const int64_t work = graph.offsets[n] + kRowWork * n;
  const int64_t ranges = std::clamp<int64_t>(work / kMinRangeWork, 1, kRanges);
  bounds_.push_back(0);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t done = graph.offsets[i + 1] + kRowWork * (i + 1);
    if (done >= work * static_cast<int64_t>(bounds_.size()) / ranges) bounds_.push_back(i + 1);
  }
  bounds_.back() = n;
}

template <class T>
void WalkOperator::apply_filter(const ChebyshevFilter& filter, const T* in, T* out, PanelMatrix<T>& work) const {
  T* current = work.panel(0);
  T* previous = work.panel(1);
  const int64_t ranges = static_cast<int64_t>(bounds_.size()) - 1;
#pragma omp parallel for schedule(dynamic, 1) num_threads(threads_.count)
  for (int64_t range = 0; range < ranges; ++range) {
    for (int64_t i = bounds_[range]; i < bounds_[range + 1]; ++i) {
      const T scale = T{1} / std::sqrt(static_cast<T>(graph_.strength(i)));
      for (int64_t c = 0; c < kPanel; ++c) current[i * kPanel + c] = scale * in[i * kPanel + c];
    }
  }

  // T_1(x) = t(x), T_{k+1}(x) = 2 t(x) T_k(x) - T_{k-1}(x) with t(x) = (x - centre) / half_width.
  const double walk = 1.0 / filter.half_width();
  const double self = -filter.centre() / filter.half_width();
  for (int k = 1; k <= filter.degree(); ++k) {
    const bool last = k == filter.degree();
    const double twice = k == 1 ? 1.0 : 2.0;
    kernels::WalkStep<T> next{};
    next.offsets = graph_.offsets.data();
    next.neighbours = graph_.neighbours.data();
    next.num_neighbours = static_cast<int64_t>(graph_.neighbours.size());
    next.current = current;
    next.previous = previous;
    next.out = last ? out : previous;
    next.walk = static_cast<T>(twice * walk);
    next.self = static_cast<T>(twice * self);
    next.past = static_cast<T>(k == 1 ? 0.0 : -1.0);
    next.scale_by_root_degree = last;
    kernels::for_parts(ranges, threads_.count, [&](int64_t range) {
      if (graph_.has_weights())
        weighted_walk_rows(graph_, next, bounds_[range], bounds_[range + 1]);
      else
        kernels::walk_rows(next, bounds_[range], bounds_[range + 1]);
    });
    std::swap(current, previous);
  }
}

void WalkOperator::apply(const ChebyshevFilter& filter, const float* in, float* out, PanelMatrix<float>& work) const {
  apply_filter(filter, in, out, work);
}
void WalkOperator::apply(const ChebyshevFilter& filter, const double* in, double* out,
                         PanelMatrix<double>& work) const {
  apply_filter(filter, in, out, work);
}

}  // namespace graphpae
