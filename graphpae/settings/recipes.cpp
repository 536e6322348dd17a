#include "graphpae/settings/recipes.h"

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

const Recipe& find_recipe(std::string_view name) { return find_named(recipes(), name, "recipe"); }

Settings recipe_settings(std::string_view name) {
  const Recipe& recipe = find_recipe(name);
  return settings_from_yaml(recipe.yaml, "recipe " + recipe.name);
}

}  // namespace graphpae
