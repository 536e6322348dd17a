#include "graphpae/cli/environment.h"

#include <torch/version.h>

#include "graphpae/core/machine.h"
#include "graphpae/core/memory.h"
#include "graphpae/version.h"

namespace graphpae::cli {

Json environment_json(const std::string& data, const std::string& data_hash, Threads threads, Kernels kernels) {
  return {{"version", kVersion},
          {"commit", build_commit()},
          {"libtorch", TORCH_VERSION},
          {"compiler", __VERSION__},
          {"processor", processor_name()},
          {"processors", all_threads().count},
          {"threads", threads.count},
          {"memory_available", available_memory()},
          {"kernels", kernels == Kernels::fused ? "fused" : "reference"},
          {"data", data},
          {"data_hash", data_hash},
          {"started", time_stamp()}};
}

}  // namespace graphpae::cli
