// The flags of the verb `bench`, whose work another program does.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace graphpae::cli {

struct BenchFlags {
  std::string name = "kernels", data;  // data: $GRAPHPAE_DATA
  std::vector<std::string> graphs;
  int repeat = 0;
  bool no_reference = false;
};

// Declares the verb, which still needs a callback.
CLI::App* declare_bench(CLI::App& app, BenchFlags& flags);

// The verb where benchmarks are not built: it has help, and nothing else.
void add_absent_bench(CLI::App& app);

}  // namespace graphpae::cli
