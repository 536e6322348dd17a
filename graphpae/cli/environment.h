// environment.json of a run directory: what the run was made with.
#pragma once

#include "graphpae/cli/command.h"
#include "graphpae/ops/kernels.h"

namespace graphpae::cli {

// `run`: its directory; a run that goes on keeps the command that began it.
Json environment_json(const std::string& run, const std::string& data, const std::string& data_hash,
                      const Common& common, Kernels kernels);

}  // namespace graphpae::cli
