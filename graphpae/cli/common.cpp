#include "graphpae/cli/common.h"

#include <fmt/format.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <cctype>
#include <string_view>

namespace graphpae::cli {

std::string shell_words(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) {
    const bool plain = !word.empty() && std::all_of(word.begin(), word.end(), [](unsigned char c) {
      return std::isalnum(c) || std::string_view("_-./:=,+@%").find(static_cast<char>(c)) != std::string_view::npos;
    });
    std::string quoted = word;
    for (size_t at = 0; !plain && (at = quoted.find('\'', at)) != std::string::npos; at += 4)
      quoted.replace(at, 1, "'\\''");
    text += (text.empty() ? "" : " ") + (plain ? word : "'" + quoted + "'");
  }
  return text;
}

void print_json(const Json& json) { fmt::print("{}\n", json.dump(2)); }

void print_notes(const std::vector<std::string>& notes) {
  for (const std::string& note : notes) spdlog::info("note: {}", note);
}

}  // namespace graphpae::cli
