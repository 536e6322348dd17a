// Recipes: named settings, one YAML file per published number, compiled into the library.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "graphpae/settings/settings.h"

namespace graphpae {

struct Recipe {
  std::string name;
  std::string title;  // its first comment line
  std::string yaml;   // as written, with comments
};

const std::vector<Recipe>& recipes();  // sorted by name

// Throws a usage error that suggests the nearest name.
const Recipe& find_recipe(std::string_view name);

// The settings of a recipe.
Settings recipe_settings(std::string_view name);

}  // namespace graphpae
