// Results of fine-tuning as a table for people.
#pragma once

#include <string>

#include "graphpae/run/finetune_results.h"

namespace graphpae::cli {

// One line about the run, and a line per target or the mean over splits.
std::string finetune_text(const run::FinetuneResult& result);

}  // namespace graphpae::cli
