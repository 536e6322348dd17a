#include "graphpae/positions/spectrum_probe.h"

#include <algorithm>

#include "graphpae/positions/block_krylov.h"

namespace graphpae {
namespace {

constexpr int64_t kSteps = 8;
constexpr int kProbeRounds = 6;
constexpr int64_t kEnoughAbove = 24;  // Ritz values above a cut that make its count trustworthy
constexpr double kMaxAmplification = 200.0;
constexpr double kMaxDeflated = 1e6;  // of what is deflated: rounding brings back 1e-7 of it in every product
constexpr int64_t kMaxDegree = 100;
constexpr int64_t kMinMaxDegree = 12;
constexpr double kGathers = 600.0;  // per row and step: with more, products cost more than they save elsewhere
constexpr double kCountFactor = 2.5;

// Rounding in float32 leaves errors of this times p(1) in the directions below the cut. They end up in the residual of
// an eigenvector with eigenvalue x divided by p(x) - 1 (measured; the factor depends little on the graph).
constexpr double kFloat32Error = 4e-8;

// Ritz values of a filtered operator and how many eigenvalues of S they stand for.
struct CountedValues {
  std::vector<double> values;  // of S, descending
  std::vector<double> counts;  // estimated number of eigenvalues >= values[i]

  // The value with about `count` eigenvalues above it, and how many Ritz values are.
  std::pair<double, int64_t> value_with(double count) const {
    for (size_t i = 1; i < values.size(); ++i) {
      if (counts[i] < count) continue;
      const double share = (count - counts[i - 1]) / std::max(counts[i] - counts[i - 1], 1e-9);
      return {values[i - 1] + std::clamp(share, 0.0, 1.0) * (values[i] - values[i - 1]), static_cast<int64_t>(i)};
    }
    return {values.back(), static_cast<int64_t>(values.size())};
  }
};

// The share of a start vector in a Ritz vector estimates the share of eigenvalues near its value. One of the 16 start
// vectors is the eigenvector of the largest eigenvalue: it is counted apart.
CountedValues counted(const RitzPairs& pairs, const ChebyshevFilter& filter, double num_nodes) {
  CountedValues result;
  double weight = 0;
  for (int64_t j = 0; j < pairs.size; ++j) {
    const double* vector = pairs.vectors.data() + j * pairs.size;
    for (int64_t i = 0; i < kPanel; ++i) weight += vector[i] * vector[i];
    result.values.push_back(filter.inverse(pairs.values[j]));
    result.counts.push_back(1 + (num_nodes - 1) * std::max(0.0, weight - 1) / (kPanel - 1));
  }
  return result;
}

}  // namespace

SpectrumProbe probe_spectrum(const WalkOperator& walk, int64_t wanted, Rng rng, Threads threads) {
  const double n = static_cast<double>(walk.num_nodes());
  SpectrumProbe probe;
  ChebyshevFilter filter = ChebyshevFilter::identity();
  for (int round = 0; round < kProbeRounds; ++round) {
    BlockKrylov<float> krylov(walk, filter, kSteps, rng, threads);
    while (krylov.panels() < kSteps) krylov.extend();
    const RitzPairs pairs = krylov.ritz();
    if (round == 0) probe.lower_end = std::max(-1.0, pairs.values.back() - 2 * pairs.residuals.back() - 1e-3);
    const CountedValues values = counted(pairs, filter, n);
    const auto [cut, above] = values.value_with(std::min(kCountFactor * static_cast<double>(wanted), 0.6 * n));
    probe.cut = cut;
    probe.last_wanted = values.value_with(static_cast<double>(wanted)).first;
    if (above >= kEnoughAbove) break;
    // Too close to the end for the steps to resolve: look again through a filter that spreads that end.
    filter = design_filter(walk, {probe.lower_end, values.values[kEnoughAbove], 1.0, 1.0, 1.0});
    if (filter.is_identity()) break;
  }
  return probe;
}

ChebyshevFilter design_filter(const WalkOperator& walk, const FilterTask& task) {
  const double mean_degree =
      static_cast<double>(walk.graph().neighbours.size()) / static_cast<double>(walk.num_nodes());
  const int64_t max_degree = std::clamp(static_cast<int64_t>(kGathers / mean_degree), kMinMaxDegree, kMaxDegree);
  ChebyshevFilter filter = ChebyshevFilter::identity();
  if (task.cut - task.lower < 0.05 || task.cut >= 1.0) return filter;
  for (int degree = 2; degree <= max_degree; ++degree) {
    const ChebyshevFilter next(task.lower, task.cut, degree);
    const double amplification = next.value(task.first);
    if (amplification > kMaxAmplification || next.value(1.0) > kMaxDeflated) break;
    const double error = kFloat32Error * amplification / std::max(next.value(task.last) - 1.0, 1e-9);
    if (error <= 0.25 * task.tolerance) filter = next;
  }
  return filter;
}

}  // namespace graphpae
