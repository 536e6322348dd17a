// What --dry-run says.
#pragma once

#include "graphpae/cli/command.h"
#include "graphpae/run/training_estimate.h"

namespace graphpae::cli {

// Shapes, parameters, memory and time.
void print_estimate(const run::TrainingEstimate& estimate, const Common& common);

}  // namespace graphpae::cli
