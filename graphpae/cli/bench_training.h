// The benchmarks of training: kernels, epochs, molecules, shards, sampling, exchange, large.
#pragma once

#include "graphpae/cli/command.h"

namespace graphpae::cli {

struct TrainingBenchOptions {
  std::string data;                 // directory with the real graphs, or ""
  std::vector<std::string> graphs;  // empty: those that each takes by default
  int repeat = 7;
  bool reference = true;
};

// Each fused operation against its plain twin and against probes of the machine.
void bench_kernels(const TrainingBenchOptions& options, const Common& common);

// Whole epochs as a user runs them: `pretrain` is started as a program of its own for each, so that peak memory is its
// own.
void bench_epochs(const TrainingBenchOptions& options, const Common& common);

// Steps on batches of molecules, molbace by name or molecules of its size.
void bench_molecules(const TrainingBenchOptions& options, const Common& common);

// Steps of recipe zinc from shards and from memory. options.data may be a directory of shards.
void bench_shards(const TrainingBenchOptions& options, const Common& common);

// Samples of a generated graph of the size of arXiv-year, and steps of its recipe.
void bench_sampling(const TrainingBenchOptions& options, const Common& common);

// What several processes tell each other: started by `graphpae launch -n N -- bench exchange`.
void bench_exchange(const TrainingBenchOptions& options, const Common& common);

// A generated graph of the size of ogbn-products with its recipe: what each part takes. Embeddings go to a file in
// options.data, or in the directory for temporary files, and are removed.
void bench_large(const TrainingBenchOptions& options, const Common& common);

}  // namespace graphpae::cli
