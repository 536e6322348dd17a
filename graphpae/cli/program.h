// The frame of all programs: flags, verbs, messages, exit codes.
#pragma once

#include <functional>
#include <string>

#include "graphpae/cli/command.h"

namespace graphpae::cli {

using ExtraVerbs = std::function<void(CLI::App&, Common&)>;

// The verbs that need no LibTorch, and `extra_verbs`. Returns the exit code. Call before any thread exists.
int run_program(int argc, char** argv, const ExtraVerbs& extra_verbs = {});

// Prints the exception being handled as one line and returns its exit code.
int report_exception();

// The word that was meant as a verb, "" if there is none.
std::string first_word(int argc, char** argv);

}  // namespace graphpae::cli
