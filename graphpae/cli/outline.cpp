#include "graphpae/cli/outline.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace graphpae::cli {
namespace {

// What a person wants, and the verbs for it, in the order of `graphpae --help`. A verb that is not here comes last.
const std::vector<std::pair<std::string, std::vector<std::string>>> kWishes = {
    {"Look at data", {"info", "convert", "generate", "positions", "spectrum"}},
    {"Learn", {"demo", "auto", "pretrain", "finetune", "launch"}},
    {"Use what was learnt", {"embed", "predict", "neighbours", "cluster", "links"}},
    {"Judge it", {"evaluate", "report"}},
    {"Reproduce the paper", {"reproduce", "bench"}},
    {"Look up names and settings", {"recipes", "methods", "settings"}},
};

std::string with_default(std::string help, const std::string& value) {
  return value.empty() ? help : fmt::format("{} The default is {}.", help, value);
}

Flag outline_flag(const CLI::Option& option) {
  Flag flag;
  if (option.nonpositional()) {
    for (const std::string& name : option.get_snames()) flag.names.push_back("-" + name);
    for (const std::string& name : option.get_lnames()) flag.names.push_back("--" + name);
  } else {
    flag.names.push_back(option.get_name(true, false));
  }
  const std::string type = option.get_type_name();  // with what validators say after a colon
  if (option.get_items_expected_max() > 0) flag.value = type.substr(0, type.find(':'));
  flag.help = with_default(option.get_description(), option.get_default_str());
  flag.group = option.get_group();
  flag.setting = option.get_option_text();
  flag.required = option.get_required();
  flag.repeated = option.get_expected_max() > 1;
  return flag;
}

}  // namespace

std::vector<Flag> Verb::flags_of(const std::string& group) const {
  std::vector<Flag> found;
  for (const Flag& flag : flags) {
    if (flag.group == group) found.push_back(flag);
  }
  return found;
}

std::vector<Verb> Outline::verbs() const {
  std::vector<Verb> all;
  for (const VerbGroup& group : groups) all.insert(all.end(), group.verbs.begin(), group.verbs.end());
  return all;
}

Verb outline_verb(const CLI::App& verb) {
  Verb result{verb.get_name(), verb.get_description(), {}, {}};
  for (const CLI::Option* option : verb.get_options()) {
    if (option == verb.get_help_ptr() || option == verb.get_help_all_ptr()) continue;
    (option->nonpositional() ? result.flags : result.arguments).push_back(outline_flag(*option));
  }
  return result;
}

Outline outline(const CLI::App& program) {
  Outline result;
  result.help = program.get_description();
  for (const CLI::Option* option : program.get_options()) result.flags.push_back(outline_flag(*option));
  std::vector<const CLI::App*> verbs = program.get_subcommands([](const CLI::App* verb) {
    return !verb->get_group().empty();  // hidden ones have none
  });
  for (const auto& [wish, names] : kWishes) {
    VerbGroup group{wish, {}};
    for (const std::string& name : names) {
      const auto place =
          std::find_if(verbs.begin(), verbs.end(), [&](const CLI::App* verb) { return verb->get_name() == name; });
      if (place == verbs.end()) continue;
      group.verbs.push_back(outline_verb(**place));
      verbs.erase(place);
    }
    if (!group.verbs.empty()) result.groups.push_back(std::move(group));
  }
  if (!verbs.empty()) result.groups.push_back({"More", {}});
  for (const CLI::App* verb : verbs) result.groups.back().verbs.push_back(outline_verb(*verb));
  return result;
}

std::string flag_text(const Flag& flag) {
  return fmt::format("{}{}", fmt::join(flag.names, ", "), flag.value.empty() ? "" : " " + flag.value);
}

std::string usage_text(const Verb& verb) {
  std::string text = "graphpae " + verb.name;
  for (const Flag& argument : verb.arguments) {
    const std::string name = argument.names.front() + (argument.repeated ? "..." : "");
    text += argument.required ? " " + name : " [" + name + "]";
  }
  bool optional = false;
  for (const Flag& flag : verb.flags) {
    if (flag.required) text += fmt::format(" {} {}", flag.names.front(), flag.value);
    optional = optional || !flag.required;
  }
  return text + (optional ? " [OPTIONS]" : "");
}

std::vector<std::string> choices_of(const std::string& value) {
  if (value.find('|') == std::string::npos) return {};
  return CLI::detail::split(value, '|');
}

std::string first_sentence(const std::string& help) {
  const size_t end = help.find(". ");
  return end == std::string::npos ? help : help.substr(0, end + 1);
}

}  // namespace graphpae::cli
