// Training probes: all splits side by side, one after the other, and with plain LibTorch as the released evaluation
// does it; at the size of Actor's embeddings, in one run.
#pragma once

#include "graphpae/core/threads.h"

namespace graphpae::bench {

struct ProbeBench {
  int64_t rows = 7600, columns = 1024, classes = 5, splits = 10;
  double together_ms = 0;    // an epoch of all splits, trained side by side
  double one_by_one_ms = 0;  // the same, split after split
  double libtorch_ms = 0;    // the same with LibTorch's linear layer, loss and optimiser; 0: not measured
  double gflops = 0;         // of `together`
};

ProbeBench run_probe_bench(Threads threads, int epochs, bool libtorch);

// Probes of molecules, evaluate_graphs() with 80 % of the rows to learn from: every fold, every penalty and the refit.
struct GraphProbeBench {
  int64_t columns = 300;
  int64_t rows = 1513;                   // as BACE
  double classes_s = 0;                  // a task of two classes
  double numbers_s = 0;                  // a task of numbers
  int64_t many_rows = 7831, tasks = 12;  // as Tox21
  double tasks_s = 0;                    // tasks of two classes
};

GraphProbeBench run_graph_probe_bench(Threads threads);

}  // namespace graphpae::bench
