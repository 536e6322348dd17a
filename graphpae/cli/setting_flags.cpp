#include "graphpae/cli/setting_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "graphpae/cli/flag_groups.h"
#include "graphpae/core/error.h"
#include "graphpae/core/options.h"
#include "graphpae/io/input_file.h"

namespace graphpae::cli {

namespace {

bool is_choice(const Option& option) { return option.type.starts_with("one of "); }

// What stands for the value of an option in help.
std::string value_name(const Option& option) {
  if (is_choice(option)) return option.type.substr(std::string("one of ").size());
  if (option.type == "yes/no") return "yes|no";
  return option.type == "integer" ? "N" : option.type == "number" ? "X" : option.type == "integers" ? "N,..." : "TEXT";
}

// For everyday flags, whose help is short.
std::string short_text(const Option& option) {
  return option.default_value.empty() ? option.help
                                      : fmt::format("{} The default is {}.", option.help, option.default_value);
}

}  // namespace

std::string describe(const Option& option) {
  const std::string meaning = option.help.substr(0, option.help.find_last_not_of('.') + 1);
  return fmt::format("{} ({}{}; default {}).", meaning, option.type, option.range.empty() ? "" : ", " + option.range,
                     option.default_value.empty() ? "none" : option.default_value);
}

void add_option_flags(CLI::App& app, const OptionTable& table, SettingFlags& flags, const FlagNames& names) {
  for (const Option& option : table.options()) {
    const std::string name = option.key.substr(option.key.starts_with(names.prefix) ? names.prefix.size() : 0);
    std::string flag = (name.size() == 1 ? "-" : "--") + name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    const bool everyday = std::find(names.everyday.begin(), names.everyday.end(), name) != names.everyday.end();
    app.add_option_function<std::string>(
           flag, [&flags, key = option.key](const std::string& text) { flags.flags.emplace_back(key, text); },
           everyday ? short_text(option) : describe(option))
        ->type_name(value_name(option))
        ->option_text(option.key)  // for the outline of the program
        ->group(everyday ? kEveryday : names.group);
  }
}

void add_setting_flags(CLI::App& app, const OptionTable& table, SettingFlags& flags, const FlagNames& names) {
  add_option_flags(app, table, flags, names);
  app.add_option("--set", flags.set, "Give a setting a value; the flag may be repeated.")
      ->take_all()
      ->allow_extra_args(false)
      ->type_name("KEY=VALUE");
  app.add_option("--config", flags.config, "Read settings from this file (YAML).")->type_name("FILE");
}

bool names_setting(const SettingFlags& flags, const std::string& key) {
  const auto is_key = [&](const auto& flag) { return flag.first == key; };
  const auto sets_key = [&](const std::string& assignment) { return assignment.starts_with(key + "="); };
  return std::any_of(flags.flags.begin(), flags.flags.end(), is_key) ||
         std::any_of(flags.set.begin(), flags.set.end(), sets_key);
}

void apply_settings(OptionTable table, const SettingFlags& flags) {
  if (!flags.config.empty()) set_from_yaml(table, read_file(flags.config, 1 << 20), flags.config);
  for (const std::string& assignment : flags.set) {
    const size_t equals = assignment.find('=');
    if (equals == std::string::npos) throw usage_error(fmt::format("--set {}: expected key=value", assignment));
    table.set(assignment.substr(0, equals), assignment.substr(equals + 1));
  }
  for (const auto& [key, value] : flags.flags) table.set(key, value);
}

}  // namespace graphpae::cli
