#include "graphpae/positions/solve_graph.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <set>
#include <string>
#include <tuple>
#include <utility>

#include "graphpae/core/error.h"
#include "graphpae/positions/component_solvers.h"
#include "graphpae/positions/slepc_session.h"

namespace graphpae {
namespace {

constexpr double kZeroEigenvalue = 1e-6;     // skip_zero leaves out what is below
constexpr int64_t kDenseNodes = 1000;        // automatic: dense up to here
constexpr double kEqualEigenvalues = 1e-12;  // closer ones count as equal when pairs are put in order

// The solver, dense or block, for `count` pairs of a component.
PositionSolver solver_for(int64_t num_nodes, int64_t count, PositionSolver wish) {
  if (wish == PositionSolver::dense || !block_solver_applies(num_nodes, count)) return PositionSolver::dense;
  return wish != PositionSolver::automatic || num_nodes > kDenseNodes ? PositionSolver::block : PositionSolver::dense;
}

// False on ranks that solve for another one, see slepc_session.h.
bool holds_vectors(const PositionOptions& options) {
  return options.solver != PositionSolver::slepc || SlepcSession::rank() == 0;
}

// The known pair of a component: eigenvalue 0 with D^1/2, or eigenvalue 1 for an isolated node.
ComponentSolution known_pair(const LaplacianGraph& graph, std::span<const int32_t> nodes) {
  ComponentSolution solution;
  solution.num_nodes = static_cast<int64_t>(nodes.size());
  solution.residuals = {0.0};
  if (graph.degree(nodes[0]) == 0) {
    solution.eigenvalues = {1.0};
    solution.eigenvectors = {1.0};
    return solution;
  }
  solution.eigenvalues = {0.0};
  double volume = 0;
  for (const int32_t node : nodes) volume += graph.strength(node);
  for (const int32_t node : nodes) {
    solution.eigenvectors.push_back(std::sqrt(graph.strength(node) / volume));
  }
  return solution;
}

// Solves components for at least their `count` smallest pairs each (all, if they have fewer), and keeps the solutions.
class ComponentSolver {
 public:
  ComponentSolver(const LaplacianGraph& graph, const ComponentSplit& split, const PositionOptions& options,
                  Threads threads, const PositionCallback& progress)
      : graph_(graph),
        split_(split),
        options_(options),
        threads_(threads),
        progress_(progress),
        solutions_(split.count()) {}

  const ComponentSolution& solution(int64_t component) const { return solutions_[component]; }
  // The solvers used, joined by +.
  std::string names() const {
    constexpr std::array kNames = {"automatic", "dense", "block", "inverse", "slepc"};
    std::string names;
    for (const PositionSolver solver : used_)
      names += (names.empty() ? "" : "+") + std::string(kNames[static_cast<size_t>(solver)]);
    return names.empty() ? "none" : names;
  }

  void solve(int64_t count) {
    // Large components one after the other with all threads, then the small ones in parallel.
    std::vector<int64_t> small;
    for (int64_t c = 0; c < split_.count(); ++c) {
      const int64_t nodes = static_cast<int64_t>(split_.nodes(c).size());
      const int64_t wanted = std::min(nodes, count);
      if (solutions_[c].count() >= wanted) continue;
      if (wanted == 1) {
        solutions_[c] = known_pair(graph_, split_.nodes(c));
      } else if (solver_for(nodes, wanted, options_.solver) == PositionSolver::block) {
        solutions_[c] = solve_large(c, wanted);
      } else {
        small.push_back(c);
      }
    }
    if (!small.empty()) used_.insert(PositionSolver::dense);
    if (holds_vectors(options_)) solve_small(small, count);
    if (options_.solver != PositionSolver::slepc) return;
    for (const int64_t c : small) share_values(solutions_[c]);
  }

 private:
  void solve_small(const std::vector<int64_t>& small, int64_t count) {
    const bool one = small.size() == 1;  // then the threads are better used inside
    parallel_tasks(one ? Threads{1} : threads_, static_cast<int64_t>(small.size()), [&](int64_t task) {
      const int64_t c = small[task];
      const int64_t wanted = std::min(static_cast<int64_t>(split_.nodes(c).size()), count);
      const Threads inside = one ? threads_ : Threads{1};
      if (split_.count() == 1) {
        solutions_[c] = solve_dense(graph_, wanted, options_.tolerance, inside);
      } else {
        solutions_[c] = solve_dense(split_.subgraph(graph_, c).view(), wanted, options_.tolerance, inside);
      }
    });
  }

  ComponentSolution solve_large(int64_t component, int64_t count) {
    BlockSolverOptions options;
    options.count = count;
    options.tolerance = options_.tolerance;
    options.seed = options_.seed;
    ConvergenceCallback progress;
    const int64_t nodes = static_cast<int64_t>(split_.nodes(component).size());
    if (progress_) progress = [&](int64_t converged) { return progress_({converged, count, nodes}); };
    if (options_.solver == PositionSolver::slepc) {
      used_.insert(PositionSolver::slepc);
      return solve_slepc(graph_, split_, component, options, progress);
    }
    if (split_.count() == 1) return solve_connected(graph_, options, progress);
    const Subgraph part = split_.subgraph(graph_, component);
    return solve_connected(part.view(), options, progress);
  }

  ComponentSolution solve_connected(const LaplacianGraph& graph, const BlockSolverOptions& options,
                                    const ConvergenceCallback& progress) {
    const bool inverse = options_.solver == PositionSolver::inverse ||
                         (options_.solver == PositionSolver::automatic && inverse_solver_applies(graph));
    used_.insert(inverse ? PositionSolver::inverse : PositionSolver::block);
    return inverse ? solve_inverse(graph, options, threads_, progress)
                   : solve_block(graph, options, threads_, progress);
  }

  const LaplacianGraph& graph_;
  const ComponentSplit& split_;
  const PositionOptions& options_;
  Threads threads_;
  const PositionCallback& progress_;
  std::vector<ComponentSolution> solutions_;
  std::set<PositionSolver> used_;
};

// One eigenpair: which component, which of its columns.
struct PairReference {
  double eigenvalue;
  int64_t component;
  int64_t column;
};

// The end of the group of pairs that belong to the same eigenvalue as pairs[index]: neighbours differ by no more than
// `tolerance`. `pairs` must be sorted.
int64_t eigenspace_end(const std::vector<PairReference>& pairs, int64_t index, double tolerance) {
  const int64_t size = static_cast<int64_t>(pairs.size());
  int64_t end = index + 1;
  while (end < size && pairs[end].eigenvalue - pairs[end - 1].eigenvalue <= tolerance) ++end;
  return end;
}

// By eigenvalue; equal ones by component, then by column.
void sort_pairs(std::vector<PairReference>& pairs) {
  const auto place = [](const PairReference& p) { return std::tuple(p.component, p.column); };
  std::sort(pairs.begin(), pairs.end(), [&](const PairReference& a, const PairReference& b) {
    return std::tuple(a.eigenvalue, place(a)) < std::tuple(b.eigenvalue, place(b));
  });
  // Rounding must not decide between equal eigenvalues of different components.
  for (int64_t begin = 0; begin < static_cast<int64_t>(pairs.size());) {
    const int64_t end = eigenspace_end(pairs, begin, kEqualEigenvalues);
    std::sort(pairs.begin() + begin, pairs.begin() + end,
              [&](const PairReference& a, const PairReference& b) { return place(a) < place(b); });
    begin = end;
  }
}

// The pairs of the whole graph in order, skipped ones left out.
std::vector<PairReference> ordered_pairs(const ComponentSolver& solver, int64_t components, bool skip_zero) {
  std::vector<PairReference> pairs;
  for (int64_t c = 0; c < components; ++c) {
    const auto& values = solver.solution(c).eigenvalues;
    for (int64_t j = 0; j < solver.solution(c).count(); ++j) {
      if (!skip_zero || values[j] >= kZeroEigenvalue) pairs.push_back({values[j], c, j});
    }
  }
  sort_pairs(pairs);
  return pairs;
}

// Pairs of the whole graph, complete up to index `k` at least if the graph has so many, and how many to take.
struct Selection {
  std::vector<PairReference> pairs;
  int64_t take = 0;
  bool cuts_eigenspace = false;
  bool too_large_to_extend = false;
};

// Eigenvalues closer than this have vectors that the residuals do not tell apart.
double resolution(const ComponentSolver& solver, const std::vector<PairReference>& pairs,
                  const PositionOptions& options) {
  double largest = 0;
  const int64_t count = std::min<int64_t>(options.k + 1, static_cast<int64_t>(pairs.size()));
  for (int64_t j = 0; j < count; ++j) {
    largest = std::max(largest, solver.solution(pairs[j].component).residuals[pairs[j].column]);
  }
  return std::clamp(10 * largest, 1e-11, std::max(1e-11, options.tolerance));
}

Selection select_pairs(ComponentSolver& solver, const ComponentSplit& split, const PositionOptions& options,
                       int64_t num_nodes) {
  Selection selection;
  const int64_t limit = options.extend_limit > 0 ? options.extend_limit : 4 * options.k + 64;
  // Every component with edges has eigenvalue 0, known beforehand; `beyond` more pairs of each are needed for the
  // first k + 1 of the graph (the one more tells whether K cuts an eigenspace).
  const int64_t zeros = split.with_edges();
  int64_t sure = options.k + 1;  // the selection is complete up to this many pairs
  int64_t hidden = 0;            // tiny eigenvalues that skip_zero leaves out besides the known zeros
  for (;;) {
    const int64_t beyond = options.skip_zero ? sure + hidden : std::max<int64_t>(0, sure - zeros);
    solver.solve(1 + beyond);
    selection.pairs = ordered_pairs(solver, split.count(), options.skip_zero);
    const int64_t size = static_cast<int64_t>(selection.pairs.size());
    if (options.skip_zero) {
      int64_t tiny = 0;
      for (int64_t c = 0; c < split.count(); ++c) {
        const auto& values = solver.solution(c).eigenvalues;
        tiny += std::count_if(values.begin(), values.end(), [](double v) { return v < kZeroEigenvalue; });
      }
      if (tiny - zeros > hidden && 1 + beyond < num_nodes) {
        hidden = tiny - zeros;
        continue;
      }
    }
    selection.take = std::min(options.k, size);
    if (selection.take == 0 || size <= options.k) return selection;
    const int64_t end = eigenspace_end(selection.pairs, options.k - 1, resolution(solver, selection.pairs, options));
    selection.cuts_eigenspace = end > options.k;
    if (!selection.cuts_eigenspace || !options.extend) return selection;
    const bool complete = end < sure || size >= num_nodes - (options.skip_zero ? zeros : 0);
    if (end > limit || (!complete && sure > limit)) {
      selection.too_large_to_extend = true;
      return selection;
    }
    if (complete) {
      selection.take = end;
      selection.cuts_eigenspace = false;
      return selection;
    }
    sure = std::min(2 * sure, std::max(limit + 1, sure + 1));
  }
}

// Fills the eigenvectors, component by component and row by row.
void write_columns(const Selection& selection, const ComponentSolver& solver, const ComponentSplit& split,
                   Threads threads, Positions& positions) {
  std::map<int64_t, std::vector<std::pair<int64_t, int64_t>>> columns;  // by component: from, to
  for (int64_t j = 0; j < selection.take; ++j) {
    columns[selection.pairs[j].component].emplace_back(selection.pairs[j].column, j);
  }
  for (const auto& part : columns) {
    const int64_t component = part.first;
    const auto& moves = part.second;
    const ComponentSolution& solution = solver.solution(component);
    const auto nodes = split.nodes(component);
    const int64_t rows = static_cast<int64_t>(nodes.size());
#pragma omp parallel for schedule(static) num_threads(threads.count) if (rows > 10000)
    for (int64_t i = 0; i < rows; ++i) {
      const double* from = solution.eigenvectors.data() + i * solution.count();
      double* to = positions.eigenvectors.data() + int64_t{nodes[i]} * positions.k;
      for (const auto& [source, target] : moves) to[target] = from[source];
    }
  }
}

void add_notes(const Selection& selection, const PositionOptions& options, Positions& positions) {
  auto& notes = positions.notes;
  if (positions.computed < options.k) {
    notes.push_back(fmt::format("only {} eigenvectors exist{}; columns {}..{} are zero", positions.computed,
                                options.skip_zero ? " without those of eigenvalue 0" : "", positions.computed,
                                options.k - 1));
  }
  if (selection.cuts_eigenspace) {
    const double value = positions.eigenvalues[positions.computed - 1];
    notes.push_back(fmt::format(
        "K = {} cuts the eigenspace of eigenvalue {:.6g}: which vectors are taken from it is arbitrary, and distances "
        "depend on that{}",
        options.k, value,
        selection.too_large_to_extend ? "; it is too large to extend K over it" : "; choose another K or extend"));
  }
  if (positions.k > options.k) {
    notes.push_back(
        fmt::format("extended from {} to {} eigenvectors to complete an eigenspace", options.k, positions.k));
  }
}

}  // namespace

void check_options(const PositionOptions& options) {
  if (options.k < 1) throw usage_error(fmt::format("positions: k is {}, expected at least 1", options.k));
  if (!(options.tolerance >= 1e-12 && options.tolerance <= 1e-2)) {
    throw usage_error(fmt::format("positions: tolerance is {}, expected 1e-12 .. 1e-2", options.tolerance));
  }
  if (options.solver == PositionSolver::slepc) SlepcSession::require();
}

Positions solve_graph(const LaplacianGraph& graph, const PositionOptions& options, Threads threads,
                      const PositionCallback& progress) {
  const ComponentSplit split(graph);
  ComponentSolver solver(graph, split, options, threads, progress);
  const Selection selection = select_pairs(solver, split, options, graph.num_nodes());

  Positions positions;
  positions.num_nodes = graph.num_nodes();
  positions.components = split.count();
  positions.isolated = split.isolated();
  positions.computed = selection.take;
  positions.k = std::max(options.k, selection.take);
  positions.cuts_eigenspace = selection.cuts_eigenspace;
  positions.eigenvalues.assign(positions.k, 0.0);
  positions.residuals.assign(positions.k, 0.0);
  if (holds_vectors(options)) {
    positions.eigenvectors.assign(positions.num_nodes * positions.k, 0.0);
    write_columns(selection, solver, split, threads, positions);
  }
  bool complete = true;
  for (int64_t j = 0; j < selection.take; ++j) {
    const PairReference& pair = selection.pairs[j];
    const ComponentSolution& solution = solver.solution(pair.component);
    positions.eigenvalues[j] = std::clamp(pair.eigenvalue, 0.0, 2.0);
    positions.residuals[j] = solution.residuals[pair.column];
    positions.converged += positions.residuals[j] <= options.tolerance;
    complete = complete && solution.complete;
  }
  positions.solver = solver.names();
  add_notes(selection, options, positions);
  if (positions.converged < positions.computed) {
    positions.status = PositionStatus::not_converged;
    positions.notes.push_back(
        fmt::format("only {} of {} eigenvectors reached the tolerance {:g}; the largest residual is {:.2g}",
                    positions.converged, positions.computed, options.tolerance, positions.max_residual()));
  }
  if (!complete) {
    positions.status = PositionStatus::not_converged;
    positions.notes.push_back(
        "eigenvectors of a multiple eigenvalue may be missing: the search did not come to an end");
  }

  fix_signs(positions.eigenvectors, positions.k, positions.computed, threads);
  normalise_columns(positions.eigenvectors, positions.k, std::span(positions.eigenvalues).first(positions.computed),
                    options.normalisation, threads);
  if (options.absolute) {
    for (double& x : positions.eigenvectors) x = std::abs(x);
  }
  return positions;
}

double Positions::max_residual() const {
  return residuals.empty() ? 0.0 : *std::max_element(residuals.begin(), residuals.end());
}

Positions laplacian_positions(const Adjacency& graph, const PositionOptions& options, Threads threads,
                              const PositionCallback& progress) {
  check_options(options);
  if (!graph.has_weights() || !options.weights) return solve_graph(view_of(graph), options, threads, progress);
  if (options.solver == PositionSolver::slepc)
    throw usage_error("positions: solver slepc takes graphs without weights; take another one or ignore weights");
  const std::vector<double> strengths = row_strengths(graph);
  return solve_graph(LaplacianGraph(view_of(graph), graph.weights(), strengths), options, threads, progress);
}

int64_t position_memory(int64_t num_nodes, int64_t num_directed_edges, const PositionOptions& options) {
  const int64_t count = std::min(num_nodes, options.k + 1);
  const int64_t split = 16 * num_nodes + (num_nodes > 0 ? 4 * num_directed_edges + 8 * num_nodes : 0);
  const bool block = solver_for(num_nodes, count, options.solver) == PositionSolver::block;
  int64_t solver =
      block ? block_solver_memory(num_nodes, count, options.tolerance) : dense_solver_memory(num_nodes, count);
  if (block && options.solver == PositionSolver::slepc) {
    solver = slepc_solver_memory(num_nodes, num_directed_edges, count);
  } else if (block && may_use_inverse_solver(num_nodes, num_directed_edges)) {
    solver = std::max(solver, inverse_solver_memory(num_nodes, count));
  }
  const int64_t vectors = holds_vectors(options) ? 8 * num_nodes * (count + options.k) : 0;
  return split + solver + vectors;
}

}  // namespace graphpae
