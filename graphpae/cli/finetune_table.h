// Results of fine-tuning: parts joined, and a table for people.
#pragma once

#include <string>
#include <vector>

#include "graphpae/cli/finetune_parts.h"

namespace graphpae::cli {

// The results of all parts [parts] as one. A single part is what it is.
Json joined_results(const std::vector<FinetunePart>& parts, const std::vector<Json>& results);

// One line about the run, and a line per target or the mean over splits.
std::string finetune_text(const Json& results);

}  // namespace graphpae::cli
