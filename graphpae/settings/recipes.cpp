#include "graphpae/settings/recipes.h"

#include <fmt/format.h>

#include "graphpae/core/error.h"
#include "graphpae/core/suggest.h"
#include "graphpae/embedded_recipes.h"

namespace graphpae {
namespace {

std::string title_of(std::string_view yaml) {
  const std::string_view line = yaml.substr(0, yaml.find('\n'));
  return std::string(line.starts_with("# ") ? line.substr(2) : line);
}

}  // namespace

const std::vector<Recipe>& recipes() {
  static const std::vector<Recipe> all = [] {
    std::vector<Recipe> list;
    for (const auto& [name, yaml] : kEmbeddedRecipes)
      list.push_back({std::string(name), title_of(yaml), std::string(yaml)});
    return list;
  }();
  return all;
}

const Recipe& find_recipe(std::string_view name) {
  std::vector<std::string> names;
  for (const Recipe& recipe : recipes()) {
    if (recipe.name == name) return recipe;
    names.push_back(recipe.name);
  }
  throw usage_error(
      fmt::format("unknown recipe '{}'{}; `graphpae recipes` lists them", name, did_you_mean(name, names)));
}

Settings recipe_settings(std::string_view name) {
  const Recipe& recipe = find_recipe(name);
  return settings_from_yaml(recipe.yaml, "recipe " + recipe.name);
}

}  // namespace graphpae
