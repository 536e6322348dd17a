#include "graphpae/cli/help.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>

#include "graphpae/cli/flag_groups.h"
#include "graphpae/cli/terminal.h"
#include "graphpae/cli/wrapped.h"

namespace graphpae::cli {
namespace {

std::string lines(const std::string& text, size_t width) {
  return fmt::format("{}\n", fmt::join(wrapped(text, width), "\n"));
}

std::string section(const std::string& title, const std::vector<Flag>& flags, size_t width) {
  if (flags.empty()) return "";
  NamedTexts rows;
  for (const Flag& flag : flags) rows.emplace_back(flag_text(flag), flag.help);
  return fmt::format("\n{}:\n{}", title, two_columns(rows, width));
}

// The names of flags that every verb takes and its help does not describe.
std::string common_line(const std::vector<Flag>& common, size_t width) {
  std::vector<std::string> names;
  for (const Flag& flag : common) {
    const bool about_program = flag.names.back().starts_with("--help") || flag.names.back() == "--version";
    if (!about_program) names.push_back(flag.names.front() + (flag.value.empty() ? "" : " " + flag.value));
  }
  return "\n" + lines(fmt::format("Every verb also takes {}.", fmt::join(names, ", ")), width);
}

// Where to find what is not here.
std::string last_line(const Verb& verb, size_t width) {
  const bool settings = std::any_of(verb.flags.begin(), verb.flags.end(), [](const Flag& flag) {
    return flag.group == kSettings || flag.value == "KEY=VALUE";
  });
  return lines(fmt::format("`graphpae {} --help-all` describes every flag{}.", verb.name,
                           settings ? ", and `graphpae settings [NAME]` every setting" : ""),
               width);
}

}  // namespace

size_t help_width(size_t terminal) { return std::clamp<size_t>(terminal, 50, kHelpWidth); }

std::string program_help(const Outline& program, bool all, size_t width) {
  std::string text = lines(program.help, width) + "\nUsage: graphpae VERB [ARGUMENTS] [OPTIONS]\n";
  size_t widest = 0;
  for (const Verb& verb : program.verbs()) widest = std::max(widest, verb.name.size());
  for (const VerbGroup& group : program.groups) {
    NamedTexts rows;
    for (const Verb& verb : group.verbs) rows.emplace_back(fmt::format("{:{}}", verb.name, widest), verb.help);
    text += fmt::format("\n{}:\n{}", group.title, two_columns(rows, width));
  }
  text += section("Options of every verb", program.flags, width);
  for (const Verb& verb : program.verbs()) {
    if (all) text += fmt::format("\n{}\n{}", std::string(width, '-'), verb_help(verb, {}, true, width));
  }
  return text + "\n" +
         lines("`graphpae VERB --help` explains a verb, and `graphpae VERB --help-all` every flag of it.", width);
}

std::string verb_help(const Verb& verb, const std::vector<Flag>& common, bool all, size_t width) {
  std::string text = lines(verb.help, width) + "\n" + lines("Usage: " + usage_text(verb), width);
  NamedTexts arguments;
  for (const Flag& argument : verb.arguments) arguments.emplace_back(argument.names.front(), argument.help);
  if (!arguments.empty()) text += "\n" + two_columns(arguments, width);
  for (const char* group : kFlagGroups) {
    if (all || std::string(group) == kEveryday) text += section(group, verb.flags_of(group), width);
  }
  if (all) return text + section("Options of every verb", common, width);
  return text + common_line(common, width) + last_line(verb, width);
}

void use_our_help(CLI::App& program) {
  program.set_help_flag("-h,--help", "Show the everyday flags and exit.");
  program.set_help_all_flag("--help-all", "Show every flag and exit.");
  program.formatter_fn([&program](const CLI::App* app, const std::string&, CLI::AppFormatMode mode) {
    const bool all = mode == CLI::AppFormatMode::All;
    const Outline whole = outline(program);
    const size_t width = help_width(terminal_width(STDOUT_FILENO));
    return app == &program ? program_help(whole, all, width) : verb_help(outline_verb(*app), whole.flags, all, width);
  });
}

}  // namespace graphpae::cli
