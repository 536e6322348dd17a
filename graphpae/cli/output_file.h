// What a verb that writes one file looks at before it begins.
#pragma once

#include "graphpae/cli/command.h"

namespace graphpae::cli {

// Throws a usage error if the file to write is one of those that are read, which it would replace.
void check_not_input(const std::string& output, const DataFlags& data);

}  // namespace graphpae::cli
