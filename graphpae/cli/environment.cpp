#include "graphpae/cli/environment.h"

#include <fmt/chrono.h>
#include <torch/version.h>

#include <ctime>
#include <fstream>

#include "graphpae/core/memory.h"
#include "graphpae/version.h"

namespace graphpae::cli {
namespace {

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("model name")) return line.substr(line.find(':') + 2);
  }
  return "unknown";
}

}  // namespace

Json environment_json(const std::string& data, const std::string& data_hash, Threads threads, Kernels kernels) {
  return {{"version", kVersion},
          {"commit", kCommit},
          {"libtorch", TORCH_VERSION},
          {"compiler", __VERSION__},
          {"processor", processor_name()},
          {"processors", all_threads().count},
          {"threads", threads.count},
          {"memory_available", available_memory()},
          {"kernels", kernels == Kernels::fused ? "fused" : "reference"},
          {"data", data},
          {"data_hash", data_hash},
          {"started", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))}};
}

}  // namespace graphpae::cli
