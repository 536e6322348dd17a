#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "graphpae/core/error.h"
#include "graphpae/core/rng.h"
#include "graphpae/core/threads.h"
#include "graphpae/positions/component_solvers.h"
#include "graphpae/positions/slepc_handles.h"
#include "graphpae/positions/slepc_session.h"

namespace graphpae {
namespace {

constexpr double kStrictness = 0.1;    // estimated residuals must be this much below the tolerance
constexpr int64_t kSearchPairs = 16;   // wanted at a time in a search for missed pairs
constexpr int64_t kSpareColumns = 32;  // of the basis, beyond twice the wanted pairs
constexpr int64_t kMaxColumns = 500;   // of the basis, beyond the wanted pairs

int64_t basis_columns(int64_t wanted) { return wanted + std::min(wanted + kSpareColumns, kMaxColumns); }

// At most, in all: the basis and the vectors found, which a search holds twice.
int64_t most_columns(int64_t count) {
  return std::max(count + basis_columns(count), 2 * count + basis_columns(kSearchPairs)) + 8;
}

// L of one component as a matrix whose rows are distributed over ranks.
class SlepcLaplacian {
 public:
  // Every rank reads and inserts its own rows.
  SlepcLaplacian(const LaplacianGraph& graph, const ComponentSplit& split, int64_t component)
      : graph_(graph),
        split_(split),
        component_(component),
        num_nodes_(static_cast<int64_t>(split.nodes(component).size())) {
    std::tie(first_, last_) = part_of(num_nodes_, SlepcSession::rank(), SlepcSession::ranks());
    const auto nodes = split.nodes(component);
    // Entries of each row in columns of this rank's range, and in others; one more for the diagonal.
    std::vector<PetscInt> inside(last_ - first_, 0), outside(last_ - first_, 0);
    int64_t entries = 0;
    for (int64_t i = first_; i < last_; ++i) {
      inside[i - first_] = 1;
      for (const int32_t v : graph.row(nodes[i])) {
        const int64_t column = split.place(v);
        if (column == i) continue;
        ++(column >= first_ && column < last_ ? inside : outside)[i - first_];
      }
      entries += inside[i - first_] + outside[i - first_];
    }
    if (entries > PETSC_MAX_INT)
      throw usage_error("positions: a rank has more edges than this PETSc can count; start more ranks");
    const PetscInt rows = static_cast<PetscInt>(last_ - first_), all = static_cast<PetscInt>(num_nodes_);
    slepc_call(
        MatCreateAIJ(PETSC_COMM_WORLD, rows, rows, all, all, 0, inside.data(), 0, outside.data(), matrix_.fill()));
    slepc_call(MatSetOption(matrix_, MAT_NO_OFF_PROC_ENTRIES, PETSC_TRUE));
    insert_rows();
  }

  Mat matrix() const { return matrix_; }
  int64_t num_nodes() const { return num_nodes_; }
  int64_t first() const { return first_; }  // of this rank's rows
  int64_t last() const { return last_; }    // one after the last

  // Not initialised.
  VecHandle vector() const {
    VecHandle vector;
    slepc_call(MatCreateVecs(matrix_, vector.fill(), nullptr));
    return vector;
  }

  // D^1/2, of length one.
  VecHandle known_vector() const {
    VecHandle known = vector();
    PetscScalar* entries = nullptr;
    slepc_call(VecGetArrayWrite(known, &entries));
    for (int64_t i = first_; i < last_; ++i) {
      entries[i - first_] = std::sqrt(static_cast<double>(graph_.degree(split_.nodes(component_)[i])));
    }
    slepc_call(VecRestoreArrayWrite(known, &entries));
    slepc_call(VecNormalize(known, nullptr));
    return known;
  }

  // ||L u - value u|| and the Rayleigh quotient `value` of a vector u of length one.
  struct Measure {
    double value, residual;
  };
  Measure measure(Vec u) const {
    const VecHandle product = vector();
    Measure result{};
    slepc_call(MatMult(matrix_, u, product));
    slepc_call(VecDot(product, u, &result.value));
    slepc_call(VecAXPY(product, -result.value, u));
    slepc_call(VecNorm(product, NORM_2, &result.residual));
    return result;
  }

 private:
  void insert_rows() {
    const auto nodes = split_.nodes(component_);
    std::vector<PetscInt> columns;
    std::vector<PetscScalar> values;
    for (int64_t i = first_; i < last_; ++i) {
      const double degree = static_cast<double>(graph_.degree(nodes[i]));
      columns.assign(1, static_cast<PetscInt>(i));
      values.assign(1, 1.0);
      for (const int32_t v : graph_.row(nodes[i])) {
        const double entry = -1.0 / std::sqrt(degree * static_cast<double>(graph_.degree(v)));
        if (v == nodes[i]) {
          values[0] += entry;  // a self loop
        } else {
          columns.push_back(static_cast<PetscInt>(split_.place(v)));
          values.push_back(entry);
        }
      }
      slepc_call(MatSetValues(matrix_, 1, columns.data(), static_cast<PetscInt>(columns.size()), columns.data(),
                              values.data(), INSERT_VALUES));
    }
    slepc_call(MatAssemblyBegin(matrix_, MAT_FINAL_ASSEMBLY));
    slepc_call(MatAssemblyEnd(matrix_, MAT_FINAL_ASSEMBLY));
  }

  const LaplacianGraph& graph_;
  const ComponentSplit& split_;
  int64_t component_, num_nodes_, first_, last_;
  MatHandle matrix_;
};

// What SLEPc asks after every restart.
struct Judge {
  const ConvergenceCallback& progress;
  int64_t found_before = 0;
  double bound = std::numeric_limits<double>::infinity();  // pairs surely above need not converge
  bool last_restart = false;                               // then all is taken as it is
  bool interrupted = false;
};

PetscErrorCode judge_pair(EPS, PetscScalar value, PetscScalar, PetscReal residual, PetscReal* error, void* context) {
  const Judge& judge = *static_cast<const Judge*>(context);
  *error = judge.last_restart || value - residual > judge.bound ? 0.0 : residual;
  return 0;
}

PetscErrorCode judge_restart(EPS eps, PetscInt restart, PetscInt max_restarts, PetscInt converged, PetscInt wanted,
                             EPSConvergedReason* reason, void* context) {
  Judge& judge = *static_cast<Judge*>(context);
  const PetscErrorCode code = EPSStoppingBasic(eps, restart, max_restarts, converged, wanted, reason, nullptr);
  if (code != 0) return code;
  if (*reason == EPS_CONVERGED_ITERATING) judge.last_restart = restart + 1 >= max_restarts;
  const bool speaks = SlepcSession::rank() == 0 && judge.progress;
  judge.interrupted = !SlepcSession::first_says(!speaks || judge.progress(judge.found_before + converged));
  if (judge.interrupted) *reason = EPS_CONVERGED_USER;
  return 0;
}

struct Pair {
  double value, residual;
  VecHandle vector;
};

class Search {
 public:
  Search(const SlepcLaplacian& laplacian, const BlockSolverOptions& options, const ConvergenceCallback& progress)
      : laplacian_(laplacian), options_(options), progress_(progress) {
    pairs_.push_back({0.0, 0.0, laplacian.known_vector()});
    pairs_[0].residual = laplacian.measure(pairs_[0].vector).residual;
  }

  // True if nothing is missing among the pairs wanted, as far as a search can tell.
  bool run() {
    bool complete = find(options_.count - 1, std::numeric_limits<double>::infinity());
    if (static_cast<int64_t>(pairs_.size()) < options_.count)
      throw numerical_error("positions: SLEPc found fewer eigenvectors than there are");
    sort();
    while (complete) {
      const size_t before = pairs_.size();
      complete = find(kSearchPairs, pairs_[options_.count - 1].value - 2 * options_.tolerance);
      if (pairs_.size() == before) break;
      sort();
    }
    return complete;
  }

  // The known pair, then the others by eigenvalue.
  std::vector<Pair>& pairs() { return pairs_; }

 private:
  void sort() {
    std::sort(pairs_.begin() + 1, pairs_.end(), [](const Pair& a, const Pair& b) { return a.value < b.value; });
  }

  // Adds up to about `wanted` of the smallest pairs below `bound` orthogonal to all that are there. False if the last
  // restart came before they converged; they are added all the same.
  bool find(int64_t wanted, double bound) {
    const int64_t room = laplacian_.num_nodes() - static_cast<int64_t>(pairs_.size());
    wanted = std::min(wanted, room);
    if (wanted == 0) return true;
    Judge judge{progress_, static_cast<int64_t>(pairs_.size()), bound};
    EpsHandle eps;
    slepc_call(EPSCreate(PETSC_COMM_WORLD, eps.fill()));
    slepc_call(EPSSetOperators(eps, laplacian_.matrix(), nullptr));
    slepc_call(EPSSetProblemType(eps, EPS_HEP));
    slepc_call(EPSSetType(eps, EPSKRYLOVSCHUR));
    slepc_call(EPSSetWhichEigenpairs(eps, EPS_SMALLEST_REAL));
    slepc_call(EPSSetDimensions(eps, static_cast<PetscInt>(wanted),
                                static_cast<PetscInt>(std::min(basis_columns(wanted), room)), PETSC_DEFAULT));
    slepc_call(EPSSetTolerances(eps, kStrictness * options_.tolerance, options_.max_restarts));
    slepc_call(EPSSetConvergenceTestFunction(eps, judge_pair, &judge, nullptr));
    slepc_call(EPSSetStoppingTestFunction(eps, judge_restart, &judge, nullptr));
    std::vector<Vec> known;
    for (const Pair& pair : pairs_) known.push_back(pair.vector);
    slepc_call(EPSSetDeflationSpace(eps, static_cast<PetscInt>(known.size()), known.data()));
    const VecHandle random = random_vector();
    Vec start = random;
    slepc_call(EPSSetInitialSpace(eps, 1, &start));
    slepc_call(EPSSolve(eps));
    if (judge.interrupted) throw Error(ErrorKind::interrupted, "positions: interrupted");
    PetscInt converged = 0;
    slepc_call(EPSGetConverged(eps, &converged));
    for (PetscInt j = 0; j < converged; ++j) {
      VecHandle vector = laplacian_.vector();
      slepc_call(EPSGetEigenvector(eps, j, vector, nullptr));
      const auto [value, residual] = laplacian_.measure(vector);
      if (value < bound) pairs_.push_back({value, residual, std::move(vector)});
    }
    return !judge.last_restart;
  }

  // The same for any number of ranks.
  VecHandle random_vector() {
    VecHandle vector = laplacian_.vector();
    const Rng rng(options_.seed, 0x736c6570 + searches_++);
    PetscScalar* entries = nullptr;
    slepc_call(VecGetArrayWrite(vector, &entries));
    for (int64_t i = laplacian_.first(); i < laplacian_.last(); ++i) entries[i - laplacian_.first()] = rng.normal(i);
    slepc_call(VecRestoreArrayWrite(vector, &entries));
    return vector;
  }

  const SlepcLaplacian& laplacian_;
  const BlockSolverOptions& options_;
  const ConvergenceCallback& progress_;
  std::vector<Pair> pairs_;
  uint64_t searches_ = 0;
};

// Column `column` of [N,count] on rank 0; empty on others.
void gather(Vec vector, int64_t num_nodes, int64_t column, int64_t count, std::vector<double>& columns) {
  const int ranks = SlepcSession::ranks();
  const bool here = SlepcSession::rank() == 0;
  std::vector<int> sizes(ranks), starts(ranks);
  for (int r = 0; r < ranks; ++r) {
    const auto [first, last] = part_of(num_nodes, r, ranks);
    sizes[r] = static_cast<int>(last - first);
    starts[r] = static_cast<int>(first);
  }
  std::vector<double> whole(here ? num_nodes : 0);
  const PetscScalar* entries = nullptr;
  slepc_call(VecGetArrayRead(vector, &entries));
  MPI_Gatherv(entries, sizes[SlepcSession::rank()], MPI_DOUBLE, whole.data(), sizes.data(), starts.data(), MPI_DOUBLE,
              0, PETSC_COMM_WORLD);
  slepc_call(VecRestoreArrayRead(vector, &entries));
  for (size_t i = 0; i < whole.size(); ++i) columns[i * count + column] = whole[i];
}

}  // namespace

int64_t slepc_solver_memory(int64_t num_nodes, int64_t num_directed_edges, int64_t count) {
  const int64_t ranks = SlepcSession::ranks();
  const int64_t gathered = SlepcSession::rank() == 0 ? 8 * num_nodes : 0;
  return (8 * num_nodes * most_columns(count) + 12 * (num_nodes + num_directed_edges)) / ranks + gathered;
}

ComponentSolution solve_slepc(const LaplacianGraph& graph, const ComponentSplit& split, int64_t component,
                              const BlockSolverOptions& options, const ConvergenceCallback& progress) {
  const int64_t nodes = static_cast<int64_t>(split.nodes(component).size());
  if (nodes / SlepcSession::ranks() + 1 > PETSC_MAX_INT / most_columns(options.count))
    throw usage_error("positions: a rank has more entries of vectors than this PETSc can count; start more ranks");
  const SlepcLaplacian laplacian(graph, split, component);
  Search search(laplacian, options, progress);
  ComponentSolution solution;
  solution.num_nodes = nodes;
  solution.complete = search.run();
  if (SlepcSession::rank() == 0) solution.eigenvectors.resize(nodes * options.count);
  for (int64_t j = 0; j < options.count; ++j) {
    const Pair pair = std::move(search.pairs()[j]);
    solution.eigenvalues.push_back(pair.value);
    solution.residuals.push_back(pair.residual);
    solution.converged = solution.converged && pair.residual <= options.tolerance;
    gather(pair.vector, nodes, j, options.count, solution.eigenvectors);
  }
  return solution;
}

void share_values(ComponentSolution& solution) {
  int64_t sizes[] = {solution.num_nodes, solution.count(), solution.converged, solution.complete};
  MPI_Bcast(sizes, 4, MPI_INT64_T, 0, PETSC_COMM_WORLD);
  solution.num_nodes = sizes[0];
  solution.converged = sizes[2] != 0;
  solution.complete = sizes[3] != 0;
  for (std::vector<double>* values : {&solution.eigenvalues, &solution.residuals}) {
    values->resize(sizes[1]);
    MPI_Bcast(values->data(), static_cast<int>(sizes[1]), MPI_DOUBLE, 0, PETSC_COMM_WORLD);
  }
}

}  // namespace graphpae
