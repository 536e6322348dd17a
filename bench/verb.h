// The verb `bench`: measures this machine, solver, kernels and epochs against their peers.
#pragma once

#include "graphpae/cli/command.h"

namespace graphpae::bench {

void add_bench(CLI::App& app, cli::Common& common);

}  // namespace graphpae::bench
