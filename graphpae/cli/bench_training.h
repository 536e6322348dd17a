// `graphpae bench kernels`, `graphpae bench epochs`, `graphpae bench molecules` and `graphpae bench shards`.
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

}  // namespace graphpae::cli
