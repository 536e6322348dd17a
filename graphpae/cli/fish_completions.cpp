#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graphpae/cli/completion_words.h"
#include "graphpae/cli/manual.h"

namespace graphpae::cli {
namespace {

std::string fish_quoted(const std::string& text) {
  std::string result = "'";
  for (const char c : text) {
    if (c == '\'' || c == '\\') result += '\\';
    result += c;
  }
  return result + "'";
}

// " -x -a WORDS": what may follow.
std::string offer(const Candidates& found, bool is_argument) {
  Words words = found.list.empty() ? found.words : word_lists().at(found.list);
  for (std::string& word : words) word += found.assigned ? "=" : "";
  std::string text;
  if (found.files || found.directories)
    text += is_argument ? " -F" : " -r -F";
  else if (!is_argument)
    text += " -x";
  const bool listed = !found.list.empty() && !found.assigned;
  if (listed) return fmt::format("{} -a \"$__graphpae_{}\"", text, found.list);
  return words.empty() ? text : fmt::format("{} -a {}", text, fish_quoted(fmt::format("{}", fmt::join(words, " "))));
}

std::string flag_line(const Verb& verb, const Flag& flag, const std::string& condition) {
  std::string names;
  for (const std::string& name : flag.names)
    names += name.starts_with("--") ? " -l " + name.substr(2) : " -s " + name.substr(1);
  return fmt::format("complete -c graphpae{}{}{} -d {}\n", condition, names,
                     flag.value.empty() ? "" : offer(candidates(verb, flag), false),
                     fish_quoted(first_sentence(flag.help)));
}

}  // namespace

std::string fish_completions(const Outline& program) {
  std::string text = "# Completions of graphpae for fish, written by `graphpae manual fish`.\n";
  for (const auto& [name, words] : word_lists())
    text += fmt::format("set -g __graphpae_{} {}\n", name, fmt::join(words, " "));
  text += "complete -c graphpae -f\n";
  for (const Flag& flag : program.flags) text += flag_line({}, flag, "");
  for (const Verb& verb : program.verbs())
    text +=
        fmt::format("complete -c graphpae -n __fish_use_subcommand -a {} -d {}\n", verb.name, fish_quoted(verb.help));
  for (const Verb& verb : program.verbs()) {
    const std::string condition = fmt::format(" -n '__fish_seen_subcommand_from {}'", verb.name);
    for (const Flag& argument : verb.arguments) {
      const std::string offered = offer(candidates(verb, argument), true);
      if (!offered.empty()) text += fmt::format("complete -c graphpae{}{}\n", condition, offered);
    }
    for (const Flag& flag : verb.flags) text += flag_line(verb, flag, condition);
  }
  return text;
}

}  // namespace graphpae::cli
