// What `--help` and `--help-all` print.
#pragma once

#include <cstddef>

#include "graphpae/cli/outline.h"

namespace graphpae::cli {

// Columns of help on a terminal of that many: no more than are read with ease.
size_t help_width(size_t terminal);

// Verbs by what a person wants. `all`: followed by the whole help of every verb.
std::string program_help(const Outline& program, bool all, size_t width);

// The everyday flags of a verb, a screen at most; `all`: every flag. `common`: those of all verbs.
std::string verb_help(const Verb& verb, const std::vector<Flag>& common, bool all, size_t width);

// Makes the program and the verbs that are added from now on print them.
void use_our_help(CLI::App& program);

}  // namespace graphpae::cli
