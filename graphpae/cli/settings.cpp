#include <fmt/format.h>
#include <unistd.h>

#include <memory>

#include "graphpae/cli/command.h"
#include "graphpae/cli/terminal.h"
#include "graphpae/cli/wrapped.h"
#include "graphpae/core/error.h"
#include "graphpae/core/suggest.h"
#include "graphpae/settings/all_settings.h"

namespace graphpae::cli {
namespace {

Json option_json(const Option& option) {
  return {{"name", option.key},
          {"type", option.type},
          {"default", option.default_value},
          {"range", option.range},
          {"meaning", option.help}};
}

const Option& find_option(const OptionTable& table, const std::string& name) {
  std::vector<std::string> names;
  for (const Option& option : table.options()) {
    if (option.key == name) return option;
    names.push_back(option.key);
  }
  throw usage_error(
      fmt::format("unknown setting '{}'{}; `graphpae settings` lists them", name, did_you_mean(name, names)));
}

void print_settings(const std::string& name, const Common& common) {
  AllSettings settings;
  const OptionTable table = table_of(settings);
  if (!name.empty()) {
    const Option& option = find_option(table, name);
    if (common.json) return print_json(option_json(option));
    fmt::print("{}: {}\n", option.key, describe(option));
    return;
  }
  Json list = Json::array();
  NamedTexts rows;
  for (const Option& option : table.options()) {
    list.push_back(option_json(option));
    rows.emplace_back(option.key, describe(option));
  }
  if (common.json) return print_json(list);
  fmt::print("{}", two_columns(rows, terminal_width(STDOUT_FILENO)));  // in a pipe a line each
}

}  // namespace

void add_settings(CLI::App& app, Common& common) {
  CLI::App* verb =
      app.add_subcommand("settings", "List every setting with its meaning, range and default, or describe one.");
  auto name = std::make_shared<std::string>();
  verb->add_option("NAME", *name, "Describe this setting.")->type_name("SETTING");
  verb->callback([name, &common] { print_settings(*name, common); });
}

}  // namespace graphpae::cli
