#include "graphpae/cli/common.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

namespace graphpae::cli {

void print_json(const Json& json) { fmt::print("{}\n", json.dump(2)); }

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) spdlog::info("note: {}", note);
}

}  // namespace graphpae::cli
