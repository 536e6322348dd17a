// What fits into a terminal.
#include "graphpae/cli/terminal.h"

#include <gtest/gtest.h>

#include <sstream>

#include "graphpae/cli/help.h"
#include "graphpae/cli/progress.h"
#include "graphpae/cli/score_table.h"
#include "tests/cli/program.h"

namespace graphpae::cli {
namespace {

TEST(Terminal, TextIsCutBetweenCharacters) {
  EXPECT_EQ(text_width("na\u00efve"), 5u);
  EXPECT_EQ(fitted("na\u00efve", 5), "na\u00efve");
  EXPECT_EQ(fitted("na\u00efvet\u00e9", 6), "na\u00ef...");
  EXPECT_EQ(fitted("abcdef", 2), "ab");
}

TEST(Terminal, ProgressFitsAnyWidth) {
  const ProgressState state{123, 1000, 0, "epochs", "loss 0.1234 (features 0.1200, positions 3.40e-05)", 12.5};
  EXPECT_EQ(progress_line(state, kUnlimited),
            " 123/1000 epochs  9.84/s  0:13 elapsed  1:29 left  loss 0.1234 (features 0.1200, positions 3.40e-05)");
  EXPECT_EQ(
      progress_line(state, 200),
      "[##......................]  123/1000 epochs  9.84/s  0:13 elapsed  1:29 left  loss 0.1234 (features 0.1200, "
      "positions 3.40e-05)");
  EXPECT_EQ(progress_line(state, 79), " 123/1000 epochs  1:29 left  loss 0.1234 (features 0.1200, positions 3.40e-05)");
  EXPECT_EQ(progress_line(state, 39), " 123/1000 epochs  1:29 left  loss 0....");
  for (size_t width = 1; width < 160; ++width) EXPECT_LE(text_width(progress_line(state, width)), width);
  // Counts do not move as they grow.
  ProgressState later = state;
  later.done = 1000;
  EXPECT_EQ(progress_line(later, 200).find("/1000"), progress_line(state, 200).find("/1000"));
  EXPECT_NE(progress_line({50, 100, 0, "%", "", 10}, 60).find(" 50 %  0:10 elapsed  0:10 left"), std::string::npos);
}

size_t widest(const std::string& text) {
  size_t found = 0;
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) found = std::max(found, text_width(line));
  return found;
}

TEST(Terminal, TablesOfScoresFit) {
  const Statistics score{10, 0.9045, 0.0151, 0.8937, 0.9153};
  const std::vector<std::string> heads = {"strict", "paper (INFLATED)"};
  const std::vector<ScoreRow> rows = {{"embeddings", {score, score}}, {"untrained encoder", {score, score}}};
  const std::string wide = score_table(heads, rows, {}, kUnlimited);
  EXPECT_EQ(wide,
            "                    strict                         paper (INFLATED)\n"
            "                      mean    std  95% interval      mean    std  95% interval\n"
            "embeddings           90.45   1.51  89.37 .. 91.53   90.45   1.51  89.37 .. 91.53\n"
            "untrained encoder    90.45   1.51  89.37 .. 91.53   90.45   1.51  89.37 .. 91.53\n");
  EXPECT_EQ(widest(wide), 80u);
  EXPECT_EQ(score_table(heads, rows, {}, 80), wide);
  const std::string stacked = score_table(heads, rows, {}, 60);
  EXPECT_EQ(widest(stacked), 49u);
  EXPECT_NE(stacked.find("\n\n                    paper (INFLATED)\n"), std::string::npos) << stacked;
  EXPECT_EQ(widest(score_table(heads, rows, {}, 40)), 36u);
}

TEST(Terminal, HelpFits) {
  Verb verb{"embed", "Write frozen embeddings, one row per node or molecule in input order, into a file.", {}, {}};
  Flag flag;
  flag.names = {"-o", "--output"};
  flag.value = "FILE";
  flag.help = "Write the rows to this file, whose ending says how: .npy, .npz, .csv or .tsv; the default is .npy.";
  flag.group = "Options";
  verb.flags = {flag, flag};
  for (const bool all : {true, false}) {
    for (const size_t columns : {50, 60, 80, 100}) {
      const size_t found = widest(verb_help(verb, {flag}, all, help_width(columns)));
      EXPECT_LE(found, columns);
      EXPECT_GT(found, columns / 2);
    }
  }
  EXPECT_EQ(help_width(kUnlimited), 100u);
  EXPECT_EQ(help_width(220), 100u);
  EXPECT_EQ(help_width(72), 72u);
  EXPECT_EQ(help_width(3), 50u);
}

// What a program writes to a pipe has no escapes, whatever the terminal could do.
TEST(Terminal, PipesGetPlainText) {
  const test::TempDir dir;
  test::make_graph(dir);
  const test::Outcome outcome = test::run(
      dir, std::string("pretrain g -o r --epochs 3 --evaluate --seeds 1") + test::kSmall, "TERM=xterm-256color");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ((outcome.out + outcome.err).find('\x1b'), std::string::npos);
  EXPECT_EQ((outcome.out + outcome.err).find('\r'), std::string::npos);
}

}  // namespace
}  // namespace graphpae::cli
