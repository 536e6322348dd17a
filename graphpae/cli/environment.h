// environment.json of a run directory: what the run was made with.
#pragma once

#include "graphpae/cli/command.h"
#include "graphpae/ops/kernels.h"

namespace graphpae::cli {

Json environment_json(const std::string& data, const std::string& data_hash, Threads threads, Kernels kernels);

}  // namespace graphpae::cli
