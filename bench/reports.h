// One function per benchmark: runs it and prints what it found, as text or as JSON.
#pragma once

#include <string>
#include <vector>

#include "graphpae/cli/command.h"

namespace graphpae::bench {

struct ReportOptions {
  std::string data;                 // directory with the real graphs, or ""
  std::vector<std::string> graphs;  // empty: those that each takes by default
  int repeat = 0;                   // 0: what each takes by default
  bool reference = true;

  int repeat_or(int usual) const { return repeat > 0 ? repeat : usual; }
};

// Each fused operation against its plain twin and against probes of the machine.
void report_kernels(const ReportOptions& options, const cli::Common& common);

// Whole epochs as a user runs them: `pretrain` is started as a program of its own for each, so that peak memory is its
// own.
void report_epochs(const ReportOptions& options, const cli::Common& common);

// Steps on batches of molecules, molbace by name or molecules of its size.
void report_molecules(const ReportOptions& options, const cli::Common& common);

// Steps of recipe zinc from shards and from memory. options.data may be a directory of shards.
void report_shards(const ReportOptions& options, const cli::Common& common);

// Samples of a generated graph of the size of arXiv-year, and steps of its recipe.
void report_sampling(const ReportOptions& options, const cli::Common& common);

// What several processes tell each other: started by `graphpae launch -n N -- bench exchange`.
void report_exchange(const ReportOptions& options, const cli::Common& common);

// A generated graph of the size of ogbn-products with its recipe: what each part takes. Embeddings go to a file in
// options.data, or in the directory for temporary files, and are removed.
void report_large(const ReportOptions& options, const cli::Common& common);

// Probes of nodes and of molecules.
void report_probe(const ReportOptions& options, const cli::Common& common);

// Eigenvectors against ARPACK.
void report_positions(const ReportOptions& options, const cli::Common& common);

}  // namespace graphpae::bench
