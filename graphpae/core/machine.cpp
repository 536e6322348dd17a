#include "graphpae/core/machine.h"

#include <fmt/chrono.h>

#include <cstdlib>
#include <ctime>
#include <fstream>

#include "graphpae/commit.h"

namespace graphpae {

std::string build_commit() { return GRAPHPAE_COMMIT; }

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

double load_average() {
  double load = 0;
  return ::getloadavg(&load, 1) == 1 ? load : 0;
}

std::string time_stamp() { return fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr))); }

}  // namespace graphpae
