// Settings on the command line.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <utility>
#include <vector>

#include "graphpae/cli/flag_groups.h"
#include "graphpae/core/options.h"

namespace graphpae::cli {

// --set key=value (repeatable), --config FILE and one --flag per option of a table.
struct SettingFlags {
  std::vector<std::string> set;
  std::string config;
  std::vector<std::pair<std::string, std::string>> flags;
};

// How the flags of a table are called and where help shows them.
struct FlagNames {
  std::vector<std::string> everyday;  // those among the everyday flags
  std::string group = kSettings;      // of all others
  std::string prefix = {};            // of keys, which flags go without
};
void add_setting_flags(CLI::App& app, const OptionTable& table, SettingFlags& flags, const FlagNames& names = {});
// Without --set and --config.
void add_option_flags(CLI::App& app, const OptionTable& table, SettingFlags& flags, const FlagNames& names = {});
// Precedence: --flag and --set, then --config.
// Whether a flag or --set says so; a file does not count.
bool names_setting(const SettingFlags& flags, const std::string& key);
void apply_settings(OptionTable table, const SettingFlags& flags);

// What settings declare; refers to them.
template <class S>
OptionTable table_of(S& settings) {
  OptionTable table;
  declare(table, settings);
  return table;
}

// The value a flag names; a usage error that lists the choices if it names none.
template <class E>
E choose(const std::string& flag, const std::string& text, std::vector<std::pair<std::string, E>> choices) {
  E value = choices.front().second;
  OptionTable table;
  table.add_choice(flag, value, std::move(choices), "");
  table.set(flag, text);
  return value;
}

// "MEANING (TYPE, RANGE; default VALUE).", a sentence.
std::string describe(const Option& option);

}  // namespace graphpae::cli
