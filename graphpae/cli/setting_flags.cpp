#include "graphpae/cli/setting_flags.h"

#include <fmt/format.h>

#include <algorithm>

#include "graphpae/core/error.h"
#include "graphpae/core/options.h"
#include "graphpae/io/input_file.h"

namespace graphpae::cli {

std::string describe(const Option& option) {
  return fmt::format("{} ({}{}; default {})", option.help, option.type, option.range.empty() ? "" : ", " + option.range,
                     option.default_value.empty() ? "none" : option.default_value);
}

void add_option_flags(CLI::App& app, const OptionTable& table, SettingFlags& flags, const std::string& prefix) {
  for (const Option& option : table.options()) {
    const std::string name = option.key.substr(option.key.starts_with(prefix) ? prefix.size() : 0);
    std::string flag = (name.size() == 1 ? "-" : "--") + name;
    std::replace(flag.begin(), flag.end(), '_', '-');
    app.add_option_function<std::string>(
           flag, [&flags, key = option.key](const std::string& text) { flags.flags.emplace_back(key, text); },
           describe(option))
        ->type_name("");
  }
}

void add_setting_flags(CLI::App& app, const OptionTable& table, SettingFlags& flags) {
  add_option_flags(app, table, flags, "");
  app.add_option("--set", flags.set, "key=value, repeatable")->take_all()->allow_extra_args(false);
  app.add_option("--config", flags.config, "YAML file of settings");
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
