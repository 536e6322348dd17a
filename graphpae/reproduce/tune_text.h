// What tuning found, as text.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "graphpae/reproduce/tune.h"

namespace graphpae {

std::string score_text(const std::optional<double>& score, const std::string& metric);  // "none" if there is none

// The best candidates of every round, and the recipe.
std::string rounds_text(const std::vector<TuneRound>& rounds, const std::string& metric);

// What the test says about the winner, in a line.
std::string verdict_of(const Summary& summary);

}  // namespace graphpae
