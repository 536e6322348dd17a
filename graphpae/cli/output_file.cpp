#include "graphpae/cli/output_file.h"

#include <fmt/format.h>

#include <filesystem>

#include "graphpae/core/error.h"

namespace graphpae::cli {

void check_not_input(const std::string& output, const DataFlags& data) {
  for (const std::string& input : {data.data, data.features, data.labels, data.splits}) {
    std::error_code absent;
    if (!input.empty() && std::filesystem::equivalent(output, input, absent))
      throw usage_error(fmt::format("-o {}: is the file that is read, and would be replaced", output));
  }
}

}  // namespace graphpae::cli
