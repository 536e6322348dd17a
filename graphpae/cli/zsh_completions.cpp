#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graphpae/cli/completion_words.h"
#include "graphpae/cli/manual.h"

namespace graphpae::cli {
namespace {

// Inside single quotes, with characters that _arguments reads itself behind a backslash.
std::string zsh_quoted(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '\'') {
      result += "'\\''";
      continue;
    }
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

// "MESSAGE:ACTION" of a value.
std::string action(const Verb& verb, const Flag& flag) {
  const Candidates found = candidates(verb, flag);
  std::string what = " ";  // nothing to offer
  if (found.assigned && found.list.empty())
    what = fmt::format("compadd -S = -- {}", fmt::join(found.words, " "));
  else if (found.assigned)
    what = "_graphpae_assigned";
  else if (!found.list.empty())
    what = "_graphpae_" + found.list;
  else if (!found.words.empty())
    what = fmt::format("({})", fmt::join(found.words, " "));
  else if (found.files || found.directories)
    what = found.directories ? "_files -/" : "_files";
  return fmt::format("{}:{}", zsh_quoted(flag.value), what);
}

// A line for every name of a flag; the names exclude each other unless it may be repeated.
std::string specs(const Verb& verb, const std::vector<Flag>& flags, const std::string& indent) {
  std::string text;
  for (const Flag& flag : flags) {
    for (const std::string& name : flag.names) {
      const bool assigns = !flag.value.empty() && name.starts_with("--");
      text +=
          fmt::format("{}'{}{}{}[{}]{}'\n", indent,
                      flag.repeated ? "*" : fmt::format("({})", fmt::join(flag.names, " ")), name, assigns ? "=" : "",
                      zsh_quoted(first_sentence(flag.help)), flag.value.empty() ? "" : ":" + action(verb, flag));
    }
  }
  return text;
}

std::string verb_function(const Verb& verb) {
  std::string text = fmt::format("    {})\n      specs=(\n{}", verb.name, specs(verb, verb.flags, "        "));
  int place = 0;
  for (const Flag& argument : verb.arguments) {
    ++place;
    text += fmt::format("        '{}:{}'\n", argument.repeated ? "*" : std::to_string(place), action(verb, argument));
  }
  return text + "      ) ;;\n";
}

std::string list_function(const std::string& name, const Words& words) {
  const bool files = name == "data" || name == "experiments";
  return fmt::format("_graphpae_{}() {{ compadd \"$@\" -- {}{} }}\n", name, fmt::join(words, " "),
                     files ? "; _files;" : ";");
}

}  // namespace

std::string zsh_completions(const Outline& program) {
  std::string text = "#compdef graphpae\n# Completions of graphpae for zsh, written by `graphpae manual zsh`.\n";
  for (const auto& [name, words] : word_lists()) text += list_function(name, words);
  text += fmt::format("_graphpae_assigned() {{ compadd \"$@\" -S = -- {}; }}\n",
                      fmt::join(word_lists().at("settings"), " "));
  text +=
      "\n_graphpae() {\n  local curcontext=$curcontext state line\n  typeset -A opt_args\n  local -a verbs common "
      "specs\n";
  text += "  verbs=(\n";
  for (const Verb& verb : program.verbs()) text += fmt::format("    '{}:{}'\n", verb.name, zsh_quoted(verb.help));
  text += "  )\n  common=(\n" + specs({}, program.flags, "    ") + "  )\n";
  text +=
      "  _arguments -C $common '1:verb:->verb' '*::argument:->rest' && return\n"
      "  if [[ $state == verb ]]; then\n    _describe -t verbs verb verbs\n    return\n  fi\n"
      "  case $words[1] in\n";
  for (const Verb& verb : program.verbs()) text += verb_function(verb);
  return text + "    *) return 1 ;;\n  esac\n  _arguments $common $specs\n}\n\n_graphpae \"$@\"\n";
}

}  // namespace graphpae::cli
