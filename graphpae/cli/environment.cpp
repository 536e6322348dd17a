#include "graphpae/cli/environment.h"

#include <torch/version.h>

#include <fstream>
#include <optional>

#include "graphpae/core/machine.h"
#include "graphpae/core/memory.h"
#include "graphpae/version.h"

namespace graphpae::cli {
namespace {

// The command in an environment.json that is there already.
std::optional<std::string> first_command(const std::string& run) {
  std::ifstream file(run + "/environment.json");
  if (!file) return std::nullopt;
  const Json json = Json::parse(file, nullptr, false);
  if (!json.is_object() || !json.contains("command") || !json["command"].is_string()) return std::nullopt;
  return json["command"].get<std::string>();
}

}  // namespace

Json environment_json(const std::string& run, const std::string& data, const std::string& data_hash,
                      const Common& common, Kernels kernels) {
  return {{"version", kVersion},
          {"commit", build_commit()},
          {"libtorch", TORCH_VERSION},
          {"compiler", __VERSION__},
          {"processor", processor_name()},
          {"processors", all_threads().count},
          {"threads", common.thread_count().count},
          {"memory_available", available_memory()},
          {"kernels", kernels == Kernels::fused ? "fused" : "reference"},
          {"command", first_command(run).value_or(common.command)},
          {"data", data},
          {"data_hash", data_hash},
          {"started", time_stamp()}};
}

}  // namespace graphpae::cli
