// What the program says about itself: --help, --help-all, the manual page and completions.
#include <gtest/gtest.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "tests/cli/program.h"

namespace graphpae {
namespace {

using test::expect_failure;
using test::holds;
using test::lines_of;
using test::Outcome;
using test::run;
using test::TempDir;

std::set<std::string> matches(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  std::set<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), expression), end; match != end; ++match)
    found.insert((*match)[1].str());
  return found;
}

// Verbs are what `graphpae --help` lists before its flags.
std::set<std::string> verbs(const TempDir& dir) {
  const std::string help = run(dir, "--help").out;
  std::set<std::string> found = matches(help.substr(0, help.find("Options of every verb")), "\n  ([a-z]+) +[A-Z]");
  EXPECT_GE(found.size(), 18u) << help;  // so that no loop over them is empty
  return found;
}

// Names of flags at the start of a line of help: "  -o, --output DIR".
std::set<std::string> flags_in(const std::string& help) {
  std::set<std::string> flags = matches(help, "\n  (?:-[a-z], )?(--[a-z][a-z.-]*)");
  flags.merge(matches(help, "\n  (-[a-z])[ ,]"));
  return flags;
}

// The whole help of every verb, from `graphpae --help-all`, which separates them by lines of dashes.
std::map<std::string, std::string> whole_helps(const TempDir& dir) {
  const std::string text = run(dir, "--help-all").out, separator = "\n" + std::string(100, '-') + "\n";
  std::map<std::string, std::string> helps;
  for (size_t at = text.find(separator); at != std::string::npos;) {
    const size_t begin = at + separator.size();
    at = text.find(separator, begin);
    const std::string help = text.substr(begin, at - begin);
    const std::set<std::string> names = matches(help, "\nUsage: graphpae ([a-z]+)");
    if (names.size() == 1) helps[*names.begin()] = help;
  }
  EXPECT_GE(helps.size(), 18u);
  return helps;
}

// Texts of a help in two columns, each joined from its lines.
std::vector<std::string> meanings(const std::string& help) {
  std::vector<std::string> texts;
  for (const std::string& line : lines_of(help)) {
    const size_t name = line.find_first_not_of(' ');
    if (name == std::string::npos || name == 0) continue;
    const size_t gap = line.find("  ", name), text = name > 2 ? name : line.find_first_not_of(' ', gap);
    if (name == 2) texts.emplace_back();
    if (text != std::string::npos && (name > 2 || gap != std::string::npos))
      texts.back() += (texts.back().empty() ? "" : " ") + line.substr(text);
  }
  return texts;
}

TEST(CliHelp, ListsVerbsByWhatAPersonWants) {
  const TempDir dir;
  const std::set<std::string> all = verbs(dir);
  for (const char* verb :
       {"info", "convert", "generate", "positions", "spectrum", "demo", "auto", "pretrain", "finetune", "launch",
        "embed", "predict", "evaluate", "report", "reproduce", "bench", "recipes", "methods", "settings"})
    EXPECT_TRUE(all.contains(verb)) << verb;
  EXPECT_FALSE(all.contains("manual"));
  const std::string help = run(dir, "--help").out;
  EXPECT_LT(help.find("Look at data:"), help.find("  info "));
  EXPECT_LT(help.find("Learn:"), help.find("  demo "));
  EXPECT_FALSE(holds(help, "\nMore:")) << "a verb has no place in the table of wishes (cli/outline.cpp)";
}

TEST(CliHelp, FitsAScreen) {
  const TempDir dir;
  for (const std::string& verb : verbs(dir)) {
    const Outcome help = run(dir, verb + " --help");
    EXPECT_EQ(help.code, 0) << verb << help.err;
    const std::vector<std::string> lines = lines_of(help.out);
    EXPECT_LE(lines.size(), 40u) << verb;
    for (const std::string& line : lines) EXPECT_LE(line.size(), 100u) << verb << "\n" << line;
    EXPECT_TRUE(holds(lines.back(), "graphpae " + verb + " --help-all")) << lines.back();
  }
  for (const std::string& line : lines_of(run(dir, "--help-all").out)) EXPECT_LE(line.size(), 100u) << line;
}

TEST(CliHelp, SpeaksInSentences) {
  const TempDir dir;
  size_t seen = 0;
  const auto check = [&](const std::string& help) {
    EXPECT_TRUE(help.substr(0, help.find('\n')).ends_with('.')) << help;
    for (const std::string& text : meanings(help)) {
      ++seen;
      EXPECT_TRUE(!text.empty() && std::isupper(static_cast<unsigned char>(text[0])) && text.ends_with('.')) << text;
    }
  };
  check(run(dir, "--help").out);
  check(run(dir, "pretrain --help").out);
  for (const auto& [verb, help] : whole_helps(dir)) check(help);
  EXPECT_GT(seen, 300u);
}

TEST(CliHelp, AllHasSettingsAndRareFlags) {
  const TempDir dir;
  for (const std::string verb : {"pretrain", "finetune"}) {
    const std::set<std::string> some = flags_in(run(dir, verb + " --help").out),
                                all = flags_in(run(dir, verb + " --help-all").out);
    for (const char* flag : {"--mask-ratio", "--width", "--kernels", "--ids"}) {
      EXPECT_TRUE(all.contains(flag)) << verb << " " << flag;
      EXPECT_FALSE(some.contains(flag)) << verb << " " << flag;
    }
    for (const char* flag : {"--recipe", "--method", "--epochs", "--seed", "--set", "-o", "--output", "--resume"})
      EXPECT_TRUE(some.contains(flag)) << verb << " " << flag;
    EXPECT_GT(all.size(), 60u);
  }
  std::set<std::string> described;
  for (const auto& [verb, help] : whole_helps(dir)) described.insert(verb);
  EXPECT_EQ(described, verbs(dir));
}

// The part of a text about one verb.
std::string part(const std::string& text, const std::string& begin, const std::string& end) {
  const size_t from = text.find(begin);
  if (from == std::string::npos) return "";
  return text.substr(from, text.find(end, from + begin.size()) - from);
}

std::set<std::string> words_of(const std::string& text) {
  return matches(text, "(-?-?[A-Za-z0-9](?:[A-Za-z0-9_./-]*[A-Za-z0-9])?)");
}

TEST(CliManual, ManPageHasEveryFlag) {
  const TempDir dir;
  std::string page = run(dir, "manual man").out;
  for (const char* title : {"NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "VERBS", "SETTINGS", "EXIT STATUS", "FILES",
                            "ENVIRONMENT", "EXAMPLES", "SEE ALSO"})
    EXPECT_TRUE(holds(page, std::string("\n.SH ") + title + "\n")) << title;
  page = std::regex_replace(page, std::regex("\\\\f[BIR]|\\\\"), "");
  for (const auto& [verb, help] : whole_helps(dir)) {
    const std::set<std::string> words = words_of(part(page, "\n.SS " + verb + "\n", "\n.S"));
    for (const std::string& flag : flags_in(help)) EXPECT_TRUE(words.contains(flag)) << verb << " " << flag;
  }
  for (const char* word : {"mask_ratio", "finetune.loss", "GRAPHPAE_DATA", "GRAPHPAE_CACHE", "130"})
    EXPECT_TRUE(holds(page, std::string("\n") + word)) << word;
}

TEST(CliManual, CompletionsHaveEveryFlag) {
  const TempDir dir;
  const std::string bash = run(dir, "manual bash").out, zsh = run(dir, "manual zsh").out,
                    fish = run(dir, "manual fish").out;
  for (const std::string* text : {&bash, &zsh, &fish}) {
    const std::set<std::string> words = words_of(*text);
    for (const char* word :
         {"chameleon", "graphmae/cora", "mask_ratio", "finetune.loss", "molbace", "table2", "graphmae"})
      EXPECT_TRUE(words.contains(word)) << word << "\n" << text->substr(0, 60);
  }
  for (const auto& [verb, help] : whole_helps(dir)) {
    const std::set<std::string> in_bash = words_of(part(bash, "\n    " + verb + ")\n", "\n      ;;")),
                                in_zsh = words_of(part(zsh, "\n    " + verb + ")\n", "\n      ) ;;"));
    std::set<std::string> in_fish;
    for (const std::string& line : lines_of(fish)) {
      if (!holds(line, "'__fish_seen_subcommand_from " + verb + "'")) continue;
      for (const std::string& name : matches(line, " -l ([a-z.-]+)")) in_fish.insert("--" + name);
      for (const std::string& name : matches(line, " -s ([a-z])")) in_fish.insert("-" + name);
    }
    for (const std::string& flag : flags_in(help)) {
      EXPECT_TRUE(in_bash.contains(flag)) << "bash: " << verb << " " << flag;
      EXPECT_TRUE(in_zsh.contains(flag)) << "zsh: " << verb << " " << flag;
      EXPECT_TRUE(in_fish.contains(flag)) << "fish: " << verb << " " << flag;
    }
  }
}

// What bash offers when the last of `words` is completed.
std::string offered(const TempDir& dir, const std::string& words) {
  const std::string script = "source '" + (dir / "complete.bash") + "'; COMP_WORDS=(" + words +
                             "); COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); _graphpae; echo \"${COMPREPLY[*]}\"";
  dir.write("try.bash", script);
  std::system(("cd '" + dir.path() + "' && bash try.bash >offered 2>&1").c_str());
  return test::slurp(dir / "offered");
}

TEST(CliManual, BashCompletes) {
  const TempDir dir;
  dir.write("complete.bash", run(dir, "manual bash").out);
  dir.write("mydata.csv", "0,1\n");
  EXPECT_EQ(offered(dir, "graphpae pred"), "predict\n");
  EXPECT_EQ(offered(dir, "graphpae pretrain --recip"), "--recipe\n");
  EXPECT_EQ(offered(dir, "graphpae pretrain --recipe cham"), "chameleon\n");
  EXPECT_EQ(offered(dir, "graphpae pretrain --recipe = cham"), "chameleon\n");
  EXPECT_EQ(offered(dir, "graphpae pretrain --set mask"), "mask_ratio=\n");
  EXPECT_EQ(offered(dir, "graphpae finetune --method graphm"), "graphmae\n");
  EXPECT_EQ(offered(dir, "graphpae info molba"), "molbace\n");
  EXPECT_EQ(offered(dir, "graphpae --threads 2 info myd"), "mydata.csv\n");
  EXPECT_EQ(offered(dir, "graphpae settings mask"), "mask_ratio\n");
  EXPECT_EQ(offered(dir, "graphpae reproduce table2"), "table2\n");       // an experiment,
  EXPECT_EQ(offered(dir, "graphpae reproduce tune molba"), "molbace\n");  // which for tune is followed by data
  EXPECT_EQ(offered(dir, "graphpae launch -n 2 -- pretrain --recip"), "--recipe\n");
}

TEST(CliManual, KnowsItsForms) {
  const TempDir dir;
  expect_failure(dir, "manual zhs", 2, "did you mean 'zsh'?");
}

}  // namespace
}  // namespace graphpae
