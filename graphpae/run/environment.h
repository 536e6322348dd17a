// environment.json of a run directory: what the run was made with.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "graphpae/run/context.h"
#include "graphpae/run/run_directory.h"

namespace graphpae::run {

// A run that goes on keeps the command that began it. `more` is added to the end.
void write_environment(const RunDirectory& run, const std::string& data, const std::string& data_hash,
                       const Context& context, const nlohmann::ordered_json& more);

}  // namespace graphpae::run
