// What --dry-run says.
#pragma once

#include "graphpae/cli/command.h"
#include "graphpae/train/estimate.h"

namespace graphpae::cli {

using NamedShapes = std::vector<std::pair<std::string, std::vector<int64_t>>>;

// Shapes, parameters, memory and time of `epochs` epochs.
void print_estimate(const Estimate& estimate, const NamedShapes& shapes, int64_t epochs, const Common& common);

}  // namespace graphpae::cli
