// What is written about the program for man and for shells, from the declarations of its verbs and flags.
#pragma once

#include <string>

#include "graphpae/cli/outline.h"

namespace graphpae::cli {

// graphpae.1, for man.
std::string man_page(const Outline& program);

// Completions. They hold all words and never call the program.
std::string bash_completions(const Outline& program);
std::string zsh_completions(const Outline& program);
std::string fish_completions(const Outline& program);

}  // namespace graphpae::cli
