#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "graphpae/cli/command.h"
#include "graphpae/reproduce/job.h"
#include "graphpae/settings/method_names.h"
#include "graphpae/settings/recipes.h"

namespace graphpae::cli {
namespace {

// The recipe of that name, null if there is none.
const Recipe* recipe_of(const MethodName& method) {
  const auto place = std::find_if(recipes().begin(), recipes().end(),
                                  [&](const Recipe& recipe) { return recipe.name == method.name; });
  return place == recipes().end() ? nullptr : &*place;
}

std::string learns_from(const MethodName& method) {
  if (!method.molecules) return "one graph";
  return method.graphs ? "one graph, molecules" : "molecules";
}

Json method_json(const MethodName& method) {
  return {{"name", method.name},
          {"title", method.title},
          {"citation", method.citation},
          {"graphs", method.graphs},
          {"molecules", method.molecules}};
}

void print_method(const MethodName& method, const Common& common) {
  const Recipe* recipe = recipe_of(method);
  if (common.json) {
    Json json = method_json(method);
    json["settings"] = recipe == nullptr ? Json() : Json::object();
    if (recipe != nullptr) {
      for (const auto& [key, value] : resolved_settings(recipe->name, {}, true)) json["settings"][key] = value;
    }
    return print_json(json);
  }
  fmt::print("{}: {}\nlearns from: {}\ncitation: {}\n", method.name, method.title, learns_from(method),
             method.citation);
  if (recipe != nullptr) fmt::print("\nIt starts from recipe {}:\n{}", recipe->name, recipe->yaml);
}

}  // namespace

void add_methods(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("methods", "List the methods of learning without labels, or describe one.");
  auto name = std::make_shared<std::string>();
  verb->add_option("NAME", *name, "Describe this method.")->type_name("METHOD");
  verb->callback([name, &common] {
    if (!name->empty()) return print_method(find_method(*name), common);
    Json list = Json::array();
    for (const MethodName& method : method_names()) {
      list.push_back(method_json(method));
      if (!common.json) fmt::print("  {:<12} {} ({})\n", method.name, method.title, learns_from(method));
    }
    if (common.json) print_json(list);
  });
}

}  // namespace graphpae::cli
