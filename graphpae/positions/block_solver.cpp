#include <algorithm>
#include <memory>

#include "graphpae/core/error.h"
#include "graphpae/positions/block_krylov.h"
#include "graphpae/positions/component_solvers.h"
#include "graphpae/positions/ritz_check.h"
#include "graphpae/positions/spectrum_probe.h"

namespace graphpae {
namespace {

constexpr double kFloat32Tolerance = 2e-6;  // below, float32 cannot reach the tolerance
constexpr double kStrictness = 0.3;         // estimated residuals must be this much below it
constexpr double kExact = 0.01;             // and this much for a pair to be locked
constexpr int64_t kSearchPanels = 12;       // at most, in a search for missed pairs
constexpr uint64_t kMaxCuts = 5;            // filters tried before going without
constexpr int kPatience = 3;                // restarts before a cut is judged

// One run of the solver with panels of type T.
template <class T>
class BlockRun {
 public:
  BlockRun(const WalkOperator& walk, const BlockSolverOptions& options, Threads threads,
           const ConvergenceCallback& progress)
      : walk_(walk),
        options_(options),
        threads_(threads),
        progress_(progress),
        plan_(walk.num_nodes(), options.count, sizeof(T) == 8),
        rng_(options.seed, 0x706f73) {}

  // False if the tolerance could not be reached with this type; `best` holds the pairs all the same.
  bool run(ComponentSolution& best) {
    const SpectrumProbe probe = probe_spectrum(walk_, options_.count, rng_.stream(1), threads_);
    task_ = {probe.lower_end, probe.cut, 1.0, probe.last_wanted, options_.tolerance};
    if (sizeof(T) == 8) task_.tolerance = 1.0;  // rounding limits the filter in float32 only
    for (uint64_t attempt = 0;; ++attempt) {
      const ChebyshevFilter filter = attempt < kMaxCuts ? design_filter(walk_, task_) : ChebyshevFilter::identity();
      krylov_.reset();
      krylov_ = std::make_unique<BlockKrylov<T>>(walk_, filter, plan_.max, rng_.stream(2 + attempt), threads_);
      const Outcome outcome = converge(best);
      if (outcome != Outcome::cut_too_high) return outcome == Outcome::done;
      // Some wanted eigenvalue is not amplified. Lower the cut; in the end there is no filter.
      task_.last = task_.cut;
      task_.cut -= 1.0 - task_.cut;
    }
  }

 private:
  enum class Outcome { done, cut_too_high, stuck };

  Outcome converge(ComponentSolution& best) {
    bool complete = false;
    for (int restart = 0; restart < options_.max_restarts; ++restart) {
      while (krylov_->panels() < krylov_->max_panels()) {
        krylov_->extend();
        report();
      }
      const RitzPairs pairs = krylov_->ritz();
      converged_ = count_converged(pairs);
      const bool amplified = krylov_->filter().is_identity() || pairs.values[options_.count - 1] > 1.1;
      if (!amplified && (restart >= kPatience || converged_ == options_.count)) return Outcome::cut_too_high;
      if (converged_ < options_.count || !amplified) {
        if (!amplified || !strengthen_filter(pairs)) krylov_->restart(pairs, plan_.restart);
        continue;
      }
      krylov_->restart_at_random(pairs, options_.count);
      complete = !missed_some(pairs);
      if (complete) break;
    }
    if (!complete) krylov_->restart(krylov_->ritz(), plan_.kept);
    best = check_ritz_vectors(walk_, krylov_->take_basis(), plan_.kept, options_.count, options_.tolerance, threads_);
    best.complete = complete;
    return best.complete && best.converged ? Outcome::done : Outcome::stuck;
  }

  // Well separated eigenvalues converge first and keep the filter weak, since they are amplified most. Once they are
  // found, a stronger one serves the rest. Returns false if there is nothing to gain.
  bool strengthen_filter(const RitzPairs& pairs) {
    const ChebyshevFilter& filter = krylov_->filter();
    int64_t exact = 0;
    while (exact < options_.count && residual_of(pairs, exact) <= kExact * options_.tolerance) ++exact;
    if (4 * exact < options_.count) return false;
    FilterTask task = task_;
    task.first = filter.inverse(pairs.values[exact]);
    task.last = filter.inverse(pairs.values[options_.count - 1]);
    const ChebyshevFilter stronger = design_filter(walk_, task);
    if (stronger.degree() <= filter.degree()) return false;
    krylov_->change_filter(stronger, pairs, exact, plan_.restart);
    return true;
  }

  // Estimated ||S x - theta x|| of a pair, if its error lies in directions near by.
  double residual_of(const RitzPairs& pairs, int64_t j) const {
    const ChebyshevFilter& filter = krylov_->filter();
    return pairs.residuals[j] / filter.slope(filter.inverse(pairs.values[j]));
  }

  int64_t count_converged(const RitzPairs& pairs) const {
    int64_t count = 0;
    for (int64_t j = 0; j < options_.count; ++j) count += residual_of(pairs, j) <= kStrictness * options_.tolerance;
    return count;
  }

  // After restart_at_random: searches from random directions. More values above the smallest wanted one than are known
  // mean that pairs were missed; the basis then holds what was found.
  bool missed_some(const RitzPairs& pairs) {
    const ChebyshevFilter& filter = krylov_->filter();
    const double smallest = pairs.values[options_.count - 1];
    const double margin = 2 * options_.tolerance * filter.slope(filter.inverse(smallest));
    const int64_t locked = krylov_->panels();
    const int64_t taking_part = options_.count - locked * kPanel;  // wanted pairs that are not locked
    const auto above = [](const std::vector<double>& values, int64_t first, int64_t last, double bound) {
      return std::count_if(values.begin() + first, values.begin() + last, [&](double v) { return v > bound; });
    };
    const int64_t known = above(pairs.values, locked * kPanel, options_.count, smallest + margin / 2);
    const int64_t last = std::min(krylov_->max_panels(), locked + kSearchPanels);
    while (krylov_->panels() < last) {
      krylov_->extend();
      report();
      const RitzPairs found = krylov_->ritz(locked);
      if (above(found.values, 0, found.size, smallest + margin) > known) return true;
      const double next = found.values[taking_part] + found.residuals[taking_part];
      if (krylov_->panels() >= locked + 4 && next < smallest + margin) break;
    }
    return false;
  }

  void report() const {
    if (progress_ && !progress_(converged_)) throw Error(ErrorKind::interrupted, "positions: interrupted");
  }

  const WalkOperator& walk_;
  const BlockSolverOptions& options_;
  Threads threads_;
  const ConvergenceCallback& progress_;
  BasisPlan plan_;
  Rng rng_;
  FilterTask task_{};
  int64_t converged_ = 0;
  std::unique_ptr<BlockKrylov<T>> krylov_;
};

}  // namespace

bool block_solver_applies(int64_t num_nodes, int64_t count) {
  return num_nodes >= 512 && num_nodes / kPanel - 2 >= 2 * BasisPlan(num_nodes, count, false).kept + 4;
}

int64_t block_solver_memory(int64_t num_nodes, int64_t count, double tolerance) {
  const bool float64 = tolerance < kFloat32Tolerance;
  const BasisPlan plan(num_nodes, count, float64);
  const int64_t basis = (plan.max + 3) * kPanel * num_nodes * (float64 ? 8 : 4);
  const int64_t check = plan.kept * kPanel * num_nodes * 8;  // its vectors; the basis is released before the rest
  return basis + check;
}

ComponentSolution solve_block(const LaplacianGraph& graph, const BlockSolverOptions& options, Threads threads,
                              const ConvergenceCallback& progress) {
  const WalkOperator walk(graph, threads);
  ComponentSolution solution;
  if (options.tolerance >= kFloat32Tolerance && BlockRun<float>(walk, options, threads, progress).run(solution)) {
    return solution;
  }
  BlockRun<double>(walk, options, threads, progress).run(solution);
  return solution;
}

}  // namespace graphpae
