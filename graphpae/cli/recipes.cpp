#include "graphpae/settings/recipes.h"

#include <fmt/format.h>

#include <memory>

#include "graphpae/cli/command.h"
#include "graphpae/core/options.h"
#include "graphpae/settings/all_settings.h"

namespace graphpae::cli {
namespace {

// Every setting a recipe leads to, defaults included.
Json resolved_json(const Recipe& recipe) {
  AllSettings settings;
  OptionTable table = table_of(settings);
  set_from_yaml(table, recipe.yaml, recipe.name);
  Json json;
  for (const Option& option : table.options()) json[option.key] = option.print();
  return json;
}

}  // namespace

void add_recipes(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("recipes", "List the recipes, or print one.");
  auto name = std::make_shared<std::string>();
  verb->add_option("NAME", *name, "Print this recipe.")->type_name("RECIPE");
  verb->callback([name, &common] {
    if (!name->empty()) {
      const Recipe& recipe = find_recipe(*name);
      if (common.json)
        return print_json({{"name", recipe.name}, {"title", recipe.title}, {"settings", resolved_json(recipe)}});
      fmt::print("{}", recipe.yaml);
      return;
    }
    Json list = Json::array();
    for (const Recipe& recipe : recipes()) {
      list.push_back({{"name", recipe.name}, {"title", recipe.title}});
      if (!common.json) fmt::print("  {:<12} {}\n", recipe.name, recipe.title);
    }
    if (common.json) print_json(list);
  });
}

}  // namespace graphpae::cli
