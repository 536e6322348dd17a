#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graphpae/cli/completion_words.h"
#include "graphpae/cli/manual.h"

namespace graphpae::cli {
namespace {

// What comes after the case of the verb: bash splits words at equals signs, so that --flag=VALUE comes as three.
constexpr const char* kBefore = R"(
  local cur=${COMP_WORDS[COMP_CWORD]} flag=${COMP_WORDS[COMP_CWORD-1]} verb= flags= words= paths= taken= after= i
  if [[ $cur == "=" ]]; then
    cur=
  elif [[ $flag == "=" ]]; then
    flag=${COMP_WORDS[COMP_CWORD-2]}
  fi
  for ((i = 1; i < COMP_CWORD; ++i)); do
    case ${COMP_WORDS[i]} in
      --threads | --log-file)
        [[ ${COMP_WORDS[i+1]} == "=" ]] && ((++i))
        ((++i)) ;;
      --) [[ $verb == launch ]] && verb= ;;
      -*) ;;
      *) [[ -n $verb ]] || verb=${COMP_WORDS[i]} ;;
    esac
  done
)";

constexpr const char* kAfter = R"(
  COMPREPLY=()
  if [[ -z $taken && $cur == -* ]]; then
    COMPREPLY=($(compgen -W "$flags $common" -- "$cur"))
    return
  fi
  COMPREPLY=($(compgen -W "$words" -- "$cur"))
  if [[ -n $after ]]; then
    COMPREPLY=("${COMPREPLY[@]/%/$after}")
    compopt -o nospace 2>/dev/null
  fi
  if [[ -n $paths ]]; then
    local IFS=$'\n'
    COMPREPLY+=($(compgen "$paths" -- "$cur"))
    compopt -o filenames 2>/dev/null
  fi
} && complete -F _graphpae graphpae
)";

// Assignments that offer what may follow a flag.
std::string offer(const Candidates& found) {
  const std::string list = found.list.empty() ? "" : "$" + found.list + (found.words.empty() ? "" : " ");
  return fmt::format("words=\"{}{}\" paths={}{}", list, fmt::join(found.words, " "),
                     found.files         ? "-f"
                     : found.directories ? "-d"
                                         : "",
                     found.assigned ? " after==" : "");
}

// Branches for the flags that take a value.
std::string value_cases(const Verb& verb, const std::vector<Flag>& flags, const std::string& indent) {
  std::map<std::string, Words> by_offer;
  for (const Flag& flag : flags) {
    if (flag.value.empty()) continue;
    Words& names = by_offer[offer(candidates(verb, flag))];
    names.insert(names.end(), flag.names.begin(), flag.names.end());
  }
  std::string text;
  for (const auto& [assignments, names] : by_offer)
    text += fmt::format("{}{}) taken=1 {} ;;\n", indent, fmt::join(names, " | "), assignments);
  return text;
}

Words names_of(const std::vector<Flag>& flags) {
  Words names;
  for (const Flag& flag : flags) names.insert(names.end(), flag.names.begin(), flag.names.end());
  return names;
}

std::string verb_case(const Verb& verb) {
  Candidates arguments;
  for (const Flag& argument : verb.arguments) {
    const Candidates one = candidates(verb, argument);
    if (!one.list.empty() && !arguments.list.empty() && one.list != arguments.list)
      arguments.words.push_back("$" + one.list);
    else if (!one.list.empty())
      arguments.list = one.list;
    arguments.words.insert(arguments.words.end(), one.words.begin(), one.words.end());
    arguments.files = arguments.files || one.files;
    arguments.directories = arguments.directories || one.directories;
  }
  std::string text = fmt::format("    {})\n      flags=\"{}\"\n      {}\n", verb.name,
                                 fmt::join(names_of(verb.flags), " "), offer(arguments));
  const std::string cases = value_cases(verb, verb.flags, "        ");
  if (!cases.empty()) text += "      case $flag in\n" + cases + "      esac\n";
  return text + "      ;;\n";
}

}  // namespace

std::string bash_completions(const Outline& program) {
  std::string text = "# Completions of graphpae for bash, written by `graphpae manual bash`.\n_graphpae() {\n";
  for (const auto& [name, words] : word_lists())
    text += fmt::format("  local {}=\"{}\"\n", name, fmt::join(words, " "));
  text += fmt::format("  local common=\"{}\"", fmt::join(names_of(program.flags), " "));
  Words verbs;
  for (const Verb& verb : program.verbs()) verbs.push_back(verb.name);
  text += kBefore;
  text += fmt::format("  case $verb in\n    \"\") words=\"{}\" ;;\n", fmt::join(verbs, " "));
  for (const Verb& verb : program.verbs()) text += verb_case(verb);
  text += "  esac\n  case $flag in\n" + value_cases({}, program.flags, "    ") + "  esac";
  return text + kAfter;
}

}  // namespace graphpae::cli
