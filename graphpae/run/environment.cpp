#include "graphpae/run/environment.h"

#include <torch/version.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "graphpae/core/machine.h"
#include "graphpae/core/memory.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/version.h"

namespace graphpae::run {
namespace {

using Json = nlohmann::ordered_json;

// The command in an environment.json that is there already.
std::optional<std::string> first_command(const std::string& path) {
  std::ifstream file(path);
  if (!file) return std::nullopt;
  const Json json = Json::parse(file, nullptr, false);
  if (!json.is_object() || !json.contains("command") || !json["command"].is_string()) return std::nullopt;
  return json["command"].get<std::string>();
}

}  // namespace

void write_environment(const RunDirectory& run, const std::string& data, const std::string& data_hash,
                       const Context& context, const nlohmann::ordered_json& more) {
  const std::string path = run.file("environment.json");
  Json json = {{"version", kVersion},
               {"commit", build_commit()},
               {"libtorch", TORCH_VERSION},
               {"compiler", __VERSION__},
               {"processor", processor_name()},
               {"processors", all_threads().count},
               {"threads", context.threads.count},
               {"memory_available", available_memory()},
               {"kernels", context.kernels == Kernels::fused ? "fused" : "reference"},
               {"command", first_command(path).value_or(context.command)},
               {"data", data},
               {"data_hash", data_hash},
               {"started", time_stamp()}};
  json.update(more);
  write_file(path, json.dump(2) + "\n");
}

}  // namespace graphpae::run
