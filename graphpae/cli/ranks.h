// The program under mpirun: several processes, its ranks, that do one job.
#pragma once

#include <functional>

#include "graphpae/cli/command.h"

namespace graphpae::cli {

// Runs `body` in a SlepcSession. Only rank 0 shows messages and progress. An error on any rank is printed once and ends
// all ranks with its exit code.
void run_on_ranks(Common& common, const std::function<void()>& body);

// As load_data; rank 0 reads first, so that downloads and errors happen once.
Dataset load_data_on_ranks(const DataFlags& flags, const Common& common);

}  // namespace graphpae::cli
