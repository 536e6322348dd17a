// Probes: multinomial logistic regression on frozen rows, many problems (splits and seeds) at once.
//
// Training offers a sequence of candidates, and a protocol chooses one (protocols.h): the classifier after each epoch
// of Adam, as released, or the exact optimum for each penalty of a grid (L-BFGS). All problems share one product with
// the rows per step; the numbers of a problem do not depend on the others beside it, nor on the number of threads.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graphpae/evaluate/design_matrix.h"

namespace graphpae {

// tuned: tuned_probe.h, which train_probes does not train.
enum class ProbeKind { adam, lbfgs, tuned };

struct ProbeOptions {
  ProbeKind kind = ProbeKind::adam;
  double lr = 1e-2;         // Adam only
  double weight_decay = 0;  // Adam only: added to the gradient, times the parameter
  int64_t epochs = 2000;    // Adam only
};

// One classifier: the rows it learns from and their classes.
struct ProbeProblem {
  std::vector<int32_t> rows;    // of the design matrix
  std::vector<int32_t> labels;  // [rows] in 0 .. classes-1
  uint64_t seed = 0;            // of the initial weights (Adam; L-BFGS starts at zero)
};

// predictions [problems, rows of X]: the class each problem predicts for every row.
using CandidateObserver = std::function<void(int64_t candidate, std::span<const int32_t> predictions)>;

// How many candidates train_probes offers, numbered from 0.
int64_t num_candidates(const ProbeOptions& options);

// What candidate `k` is: "epoch 17" or "penalty 1e-3".
std::string candidate_name(const ProbeOptions& options, int64_t k);

// Weights [D,C] before the first epoch of Adam: Xavier uniform. The bias starts at zero.
std::vector<float> initial_probe_weights(int64_t columns, int64_t classes, uint64_t seed);

struct ProbeStatus {
  int64_t unconverged = 0;  // L-BFGS: optimisations that ran out of iterations
};

// Trains all problems and calls `observe` after each candidate. Throws a numerical error if weights are no longer
// finite.
ProbeStatus train_probes(const DesignMatrix& x, int64_t classes, std::span<const ProbeProblem> problems,
                         const ProbeOptions& options, const CandidateObserver& observe, Threads threads);

}  // namespace graphpae
