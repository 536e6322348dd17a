#include "graphpae/cli/repeat.h"

#include <algorithm>
#include <array>
#include <string_view>

namespace graphpae::cli {
namespace {

constexpr std::array<std::string_view, 7> kLeftOut = {"recipe", "set",   "config", "output",
                                                      "resume", "force", "dry-run"};

bool is_left_out(const CLI::Option& option) {
  if (!option.get_option_text().empty()) return true;  // a setting
  return std::any_of(option.get_lnames().begin(), option.get_lnames().end(), [](const std::string& name) {
    return std::find(kLeftOut.begin(), kLeftOut.end(), name) != kLeftOut.end();
  });
}

}  // namespace

std::vector<std::string> repeating_words(const CLI::App& verb) {
  std::vector<std::string> arguments = {verb.get_name()}, flags;
  for (const CLI::Option* option : verb.get_options()) {
    if (option->count() == 0 || is_left_out(*option)) continue;
    const std::vector<std::string>& values = option->results();
    if (!option->nonpositional()) {
      arguments.insert(arguments.end(), values.begin(), values.end());
      continue;
    }
    const std::string name =
        option->get_lnames().empty() ? "-" + option->get_snames().front() : "--" + option->get_lnames().front();
    if (option->get_items_expected_max() == 0) {
      flags.push_back(name);
    } else if (const char delimiter = option->get_delimiter(); delimiter != '\0') {
      flags.insert(flags.end(), {name, CLI::detail::join(values, std::string(1, delimiter))});
    } else {
      for (const std::string& value : values) flags.insert(flags.end(), {name, value});
    }
  }
  arguments.insert(arguments.end(), flags.begin(), flags.end());
  return arguments;
}

}  // namespace graphpae::cli
