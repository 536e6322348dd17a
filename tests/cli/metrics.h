// What metrics.jsonl holds.
#pragma once

#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "tests/support/temp_dir.h"

namespace graphpae::test {

// The loss of every epoch, a line each.
inline std::string losses(const std::string& path) {
  std::string list;
  std::istringstream lines(slurp(path));
  for (std::string line; std::getline(lines, line);) list += nlohmann::json::parse(line)["loss"].dump() + "\n";
  return list;
}

}  // namespace graphpae::test
