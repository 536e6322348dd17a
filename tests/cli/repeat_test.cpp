// The command a page prints to repeat its run works as it is printed.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/molecule_table.h"
#include "tests/cli/program.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using test::kSmall;
using test::Outcome;
using test::run;
using test::slurp;
using test::TempDir;

void replace_all(std::string& text, const std::string& from, const std::string& to) {
  for (size_t at = 0; (at = text.find(from, at)) != std::string::npos; at += to.size())
    text.replace(at, from.size(), to);
}

// The last command of the section "Again", as a reader copies it.
std::string printed_command(const std::string& page) {
  const size_t section = page.find("<h2>Again</h2>"), end = page.find("<h2>", section + 1);
  const size_t open = page.rfind("<pre tabindex=\"0\">", end),
               begin = open + std::string("<pre tabindex=\"0\">").size();
  if (section == std::string::npos || open == std::string::npos || open < section) return "";
  std::string command = page.substr(begin, page.find("</pre>", begin) - begin);
  for (const auto& [code, sign] : {std::pair{"&lt;", "<"}, {"&gt;", ">"}, {"&quot;", "\""}, {"&amp;", "&"}})
    replace_all(command, code, sign);
  return command;
}

// Runs it in `directory` with a `graphpae` in the path.
int run_printed(const TempDir& dir, const std::string& directory, const std::string& command) {
  dir.write("bin/graphpae", "#!/bin/sh\nexec '" GRAPHPAE_PROGRAM "' \"$@\"\n");
  fs::permissions(dir / "bin/graphpae", fs::perms::owner_all);
  dir.write("command.sh",
            "cd '" + (dir / directory) + "' && PATH='" + (dir / "bin") + "':\"$PATH\" && " + command + " -q\n");
  return WEXITSTATUS(
      std::system(("sh '" + (dir / "command.sh") + "' >'" + (dir / "log") + "' 2>&1 </dev/null").c_str()));
}

void expect_repeated(const TempDir& dir, const std::string& run, const std::string& model = "model/model.safetensors") {
  const std::string command = printed_command(slurp(dir / (run + "/report.html")));
  fs::remove_all(dir / "AGAIN");
  EXPECT_EQ(run_printed(dir, ".", command), 0) << command << "\n" << slurp(dir / "log");
  EXPECT_EQ(slurp(dir / (run + "/" + model)), slurp(dir / ("AGAIN/" + model))) << command;
  EXPECT_FALSE(slurp(dir / ("AGAIN/" + model)).empty()) << command;
}

TEST(CliRepeat, AGraphInFilesOfItsOwn) {
  const TempDir dir;
  std::string edges = "src,dst\n", features = "node,a,b,c\n", labels = "node,label\n";
  for (int n = 0; n < 40; ++n) {
    const auto name = [](int node) { return "n" + std::to_string(node % 40); };
    edges += name(n) + "," + name(n + 1) + "\n" + name(n) + "," + name(7 * n + 3) + "\n";
    features +=
        name(n) + "," + std::to_string(n % 2) + "," + std::to_string(n % 5) + "," + std::to_string(n % 3 == 0) + "\n";
    labels += name(n) + "," + (n % 2 == 0 ? "even one" : "odd") + "\n";
  }
  dir.write("it's data/edges & more.csv", edges);
  dir.write("it's data/features.csv", features);
  dir.write("it's data/labels.csv", labels);
  const std::string files =
      " --features \"it's data/features.csv\" --labels \"it's data/labels.csv\" --self-loops keep --repeats merge";
  const Outcome made =
      run(dir, "pretrain \"it's data/edges & more.csv\"" + files +
                   " -o 'a run' --epochs 3 --recipe chameleon --seed 5 --set 'eigenvectors=4' --set heads=2 "
                   "--width 16 --set gaussians=8 -q");
  ASSERT_EQ(made.code, 0) << made.err;
  const std::string command = printed_command(slurp(dir / "a run/report.html"));
  EXPECT_EQ(command,
            "graphpae pretrain 'it'\\''s data/edges & more.csv' --features 'it'\\''s data/features.csv' --labels "
            "'it'\\''s data/labels.csv' --self-loops keep --repeats merge --config 'a run/config.yaml' -o AGAIN");
  expect_repeated(dir, "a run");
  // Also where the page was made from somewhere else.
  fs::create_directories(dir / "else");
  ASSERT_EQ(run(dir, "report '../a run'", "cd else &&").code, 0);
  expect_repeated(dir, "a run");
  // And after it was prolonged, by a command that says less.
  ASSERT_EQ(run(dir, "pretrain \"it's data/edges & more.csv\"" + files + " -o 'a run' --resume --epochs 5 -q").code, 0);
  EXPECT_EQ(printed_command(slurp(dir / "a run/report.html")), command);
  expect_repeated(dir, "a run");
}

TEST(CliRepeat, MoleculesWithTasksAndEvaluation) {
  const TempDir dir;
  dir.write("m.csv", test::molecule_table("name,Structure,is odd,weight"));
  const std::string small = " --set width=16 --set layers=2 --set gaussians=8 --set eigenvectors=3 -q";
  ASSERT_EQ(
      run(dir,
          "pretrain m.csv --smiles-column Structure --tasks weight --featurizer transfer -o p --epochs 2 --evaluate "
          "--split random:60/20/20 --num-splits 2" +
              small)
          .code,
      0);
  expect_repeated(dir, "p");
  EXPECT_TRUE(nlohmann::json::parse(slurp(dir / "AGAIN/results.json")).contains("evaluation"));
  const Outcome tuned = run(dir,
                            "finetune p m.csv --smiles-column Structure --tasks 'weight,is odd' --featurizer transfer "
                            "--targets weight --epochs 2 -o t -q");
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  expect_repeated(dir, "t", "model/head.safetensors");
  ASSERT_EQ(
      run(dir, "finetune p m.csv --smiles-column Structure --tasks 'is odd' --from-scratch --epochs 2 -o s -q").code,
      0);
  expect_repeated(dir, "s", "model/head.safetensors");
}

}  // namespace
}  // namespace graphpae
