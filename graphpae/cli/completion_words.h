// What may follow a flag, for completions in shells.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "graphpae/cli/outline.h"

namespace graphpae::cli {

using Words = std::vector<std::string>;

// Names that many flags take, by the name of their list: data, recipes, methods, settings, experiments.
const std::map<std::string, Words>& word_lists();

// What a flag or an argument may be followed by.
struct Candidates {
  std::string list;  // name of a list, or ""
  Words words;       // others
  bool files = false, directories = false;
  bool assigned = false;  // an equals sign follows the word
};
Candidates candidates(const Verb& verb, const Flag& flag);

}  // namespace graphpae::cli
