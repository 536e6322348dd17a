// YAML in and out of an OptionTable. Nested maps and dotted keys are the same: `probe: {lr: 0.01}` and
// `probe.lr: 0.01`. Lists become comma-separated text.
#pragma once

#include <string>

#include "graphpae/core/options.h"

namespace graphpae {

// Sets every key of the YAML text; `source` (a file name) starts the error messages.
void set_from_yaml(OptionTable& table, const std::string& yaml, const std::string& source);

// Every option with its present value, in the order of declaration.
std::string to_yaml(const OptionTable& table);

}  // namespace graphpae
