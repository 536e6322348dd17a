#include "graphpae/cli/completion_words.h"

#include <algorithm>

#include "graphpae/cli/setting_flags.h"
#include "graphpae/data/known_data.h"
#include "graphpae/reproduce/experiment.h"
#include "graphpae/settings/all_settings.h"
#include "graphpae/settings/method_names.h"
#include "graphpae/settings/recipes.h"

namespace graphpae::cli {
namespace {

template <class Named>
Words names_of(const std::vector<Named>& all) {
  Words names;
  for (const Named& one : all) names.push_back(one.name);
  return names;
}

std::map<std::string, Words> make_lists() {
  std::map<std::string, Words> lists = {{"data", names_of(known_data())},
                                        {"recipes", names_of(recipes())},
                                        {"methods", names_of(method_names())},
                                        {"experiments", names_of(experiments())}};
  for (const char* word : {"all", "tune"}) lists["experiments"].push_back(word);
  AllSettings settings;
  const OptionTable table = table_of(settings);
  for (const Option& option : table.options()) lists["settings"].push_back(option.key);
  return lists;
}

// The keys that --set of a verb knows: all that recipes may say, or those of its own flags.
Candidates keys(const Verb& verb) {
  Candidates found;
  found.assigned = true;
  const bool recipes =
      std::any_of(verb.flags.begin(), verb.flags.end(), [](const Flag& flag) { return flag.value == "RECIPE"; });
  if (recipes) {
    found.list = "settings";
    return found;
  }
  for (const Flag& flag : verb.flags) {
    if (!flag.setting.empty()) found.words.push_back(flag.setting);
  }
  return found;
}

}  // namespace

const std::map<std::string, Words>& word_lists() {
  static const std::map<std::string, Words> lists = make_lists();
  return lists;
}

Candidates candidates(const Verb& verb, const Flag& flag) {
  const std::string& value = flag.value;
  Candidates found;
  found.words = choices_of(value);
  if (value == "KEY=VALUE") return keys(verb);
  if (value == "DATA") found.list = "data";
  if (value == "RECIPE") found.list = "recipes";
  if (value == "METHOD") found.list = "methods";
  if (value == "SETTING") found.list = "settings";
  if (value == "EXPERIMENT") found.list = "experiments";
  found.files = value == "FILE" || value == "DATA" || value == "EXPERIMENT";
  found.directories = value == "DIR" || value == "RUN";
  return found;
}

}  // namespace graphpae::cli
