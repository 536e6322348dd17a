// The command line of a run, for the page that says how to repeat it.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

namespace graphpae::cli {

// The verb and what it was given, word by word, but for settings, which config.yaml of the run has, and for where and
// how the run is kept: `WORDS --config RUN/config.yaml -o AGAIN` trains the same.
std::vector<std::string> repeating_words(const CLI::App& verb);

}  // namespace graphpae::cli
