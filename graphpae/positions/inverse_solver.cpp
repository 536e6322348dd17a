#include "graphpae/core/error.h"
#include "graphpae/positions/block_krylov.h"
#include "graphpae/positions/component_solvers.h"
#include "graphpae/positions/ritz_check.h"
#include "graphpae/positions/sparse_factor.h"

namespace graphpae {
namespace {

constexpr int64_t kMaxMeanDegree = 6;  // denser graphs fill up
constexpr int64_t kMaxFillPerNode = 60;
constexpr double kShift = 1e-6;      // s: small next to what is wanted, large next to rounding
constexpr double kResidual = 1e-10;  // estimated residuals at which pairs count as found

// s (L + s I)^-1 in place of S: its largest eigenvalues s / (lambda + s) belong to the smallest lambda.
class InverseOperator : public WalkOperator {
 public:
  InverseOperator(const LaplacianGraph& graph, Threads threads)
      : WalkOperator(graph, threads), factor_(graph), threads_(threads) {
    if (!factor_.factor(-kShift))
      throw Error(ErrorKind::numerical, "positions: the shifted Laplacian could not be factored");
  }

  void apply(const ChebyshevFilter&, const double* in, double* out, PanelMatrix<double>&) const override {
    factor_.solve(in, out, threads_);
    const int64_t size = num_nodes() * kPanel;
#pragma omp parallel for schedule(static) num_threads(threads_.count)
    for (int64_t i = 0; i < size; ++i) out[i] *= kShift;
  }

 private:
  SparseFactor factor_;
  Threads threads_;
};

double eigenvalue_of(double value) { return kShift / value - kShift; }

// ||L u - lambda u|| of a pair with ||M u - value u|| = residual, at most: L u - lambda u = -(L + s)(M u - value u) /
// value.
double residual_of(const RitzPairs& pairs, int64_t j) { return 2.0 * pairs.residuals[j] / pairs.values[j]; }

// True if exactly as many eigenvalues lie below the last group of the `count` found as were found there.
bool is_complete(SparseFactor& factor, const RitzPairs& pairs, int64_t count) {
  const double last = eigenvalue_of(pairs.values[count - 1]);
  int64_t below = count - 1;
  while (below > 0 && last - eigenvalue_of(pairs.values[below - 1]) < 1e-9 + 1e-6 * last) --below;
  if (below == 0) return true;
  const double gap = eigenvalue_of(pairs.values[below]) - eigenvalue_of(pairs.values[below - 1]);
  for (const double share : {0.01, 0.03, 0.1}) {  // a vanishing pivot wants another shift
    if (factor.factor(eigenvalue_of(pairs.values[below]) - share * gap)) return factor.negative_pivots() == below;
  }
  return false;
}

}  // namespace

bool may_use_inverse_solver(int64_t num_nodes, int64_t num_directed_edges) {
  return num_directed_edges <= kMaxMeanDegree * num_nodes && num_nodes <= INT32_MAX / kMaxFillPerNode;
}

bool inverse_solver_applies(const LaplacianGraph& graph) {
  return may_use_inverse_solver(graph.num_nodes(), static_cast<int64_t>(graph.neighbours.size())) &&
         SparseFactor(graph).fill() <= kMaxFillPerNode * graph.num_nodes();
}

int64_t inverse_solver_memory(int64_t num_nodes, int64_t count) {
  const int64_t kept = (count + kPanel - 1) / kPanel;
  return num_nodes * (8 * kPanel * (3 * kept + 11) + 3 * 12 * kMaxFillPerNode);
}

ComponentSolution solve_inverse(const LaplacianGraph& graph, const BlockSolverOptions& options, Threads threads,
                                const ConvergenceCallback& progress) {
  const BasisPlan plan(graph.num_nodes(), options.count, true);
  const InverseOperator inverse(graph, threads);
  BlockKrylov<double> krylov(inverse, ChebyshevFilter::identity(), plan.max, Rng(options.seed, 0x696e76), threads);
  SparseFactor counting(graph);

  bool complete = false;
  int64_t converged = 0;
  RitzPairs pairs;
  for (int restart = 0; restart < options.max_restarts && !complete; ++restart) {
    while (krylov.panels() < krylov.max_panels()) {
      krylov.extend();
      if (progress && !progress(converged)) throw Error(ErrorKind::interrupted, "positions: interrupted");
    }
    pairs = krylov.ritz();
    converged = 0;
    for (int64_t j = 0; j < options.count; ++j) converged += residual_of(pairs, j) <= kResidual;
    if (converged < options.count) {
      krylov.restart(pairs, plan.restart);
    } else if (!(complete = is_complete(counting, pairs, options.count))) {
      krylov.restart_at_random(pairs, options.count);
    }
  }
  if (complete) krylov.restart(pairs, plan.kept);
  const WalkOperator walk(graph, threads);
  ComponentSolution solution =
      check_ritz_vectors(walk, krylov.take_basis(), plan.kept, options.count, options.tolerance, threads);
  solution.complete = complete;
  return solution;
}

}  // namespace graphpae
