// spectrum, from outside.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace graphpae {
namespace {

using nlohmann::json;
using test::expect_failure;
using test::Outcome;
using test::run;
using test::slurp;
using test::TempDir;

TEST(CliSpectrum, WritesNumbersAndThePage) {
  const TempDir dir;
  test::make_graph(dir);
  const Outcome outcome = run(dir, "spectrum g -o s --draws 2 --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["whole"], true);
  EXPECT_EQ(result["eigenvectors"], result["nodes"]);
  EXPECT_EQ(json::parse(slurp(dir / "s/spectrum.json")), result);
  double eigenvalues = 0;
  for (const auto& band : result["corruptions"]["edge_masking"]) eigenvalues += band["eigenvalues"].get<double>();
  EXPECT_EQ(eigenvalues, 200);
  EXPECT_TRUE(slurp(dir / "s/spectrum.csv").starts_with("corruption,low,high,"));
  EXPECT_NE(slurp(dir / "s/spectrum.html").find("<canvas id=\"chart4\""), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(dir / "s/energies.csv"));

  const Outcome some = run(dir, "spectrum g -o t --draws 1 --eigenvectors 30");
  ASSERT_EQ(some.code, 0) << some.err;
  EXPECT_NE(some.out.find("the 30 lowest of 200 eigenvectors"), std::string::npos) << some.out;
}

TEST(CliSpectrum, EnergiesOfRuns) {
  const TempDir dir;
  test::make_graph(dir);
  ASSERT_EQ(run(dir, std::string("pretrain g -o r --epochs 3 -q") + test::kSmall).code, 0);
  ASSERT_EQ(run(dir, std::string("pretrain g -o other/r --epochs 3 -q --seed 1") + test::kSmall).code, 0);
  const Outcome outcome = run(dir, "spectrum g -o s --run r --run other/r --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_TRUE(result["corruptions"].empty());
  std::vector<std::string> names;
  for (const json& energy : result["energies"]) {
    names.push_back(energy["name"]);
    double share = 0;
    for (const json& band : energy["bands"]) share += band["share"].get<double>();
    EXPECT_NEAR(share, 1, 1e-5) << names.back();
  }
  EXPECT_EQ(names, (std::vector<std::string>{"r", "other/r", "untrained encoder", "raw features"}));
  EXPECT_NE(result["energies"][0]["mean_frequency"], result["energies"][2]["mean_frequency"]);
  EXPECT_TRUE(slurp(dir / "s/energies.csv").starts_with("representation,low,high,eigenvalues,share,density\nr,0,0.1,"));
  EXPECT_FALSE(std::filesystem::exists(dir / "s/spectrum.csv"));
  // Shown with the run.
  ASSERT_EQ(run(dir, "report r --spectrum s").code, 0);
  EXPECT_NE(slurp(dir / "r/report.html").find("What encoders have learnt"), std::string::npos);
}

TEST(CliSpectrum, IsInterrupted) {
  const TempDir dir;
  ASSERT_EQ(run(dir, "generate heterophilic -o g --nodes 3000 --edges 9000 --features 40 -q").code, 0);
  const Outcome outcome = run(dir, "spectrum g -o s --draws 50", "timeout --preserve-status -s INT 4");
  EXPECT_EQ(outcome.code, 130) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(dir / "s"));
}

TEST(CliSpectrum, RefusesWhatCannotWork) {
  const TempDir dir;
  test::make_graph(dir);
  ASSERT_EQ(run(dir, "spectrum g -o s --draws 1 -q").code, 0);
  expect_failure(dir, "spectrum g -o s --draws 1 -q", 2, "s: holds a spectrum; --force writes over it");
  expect_failure(dir, "spectrum g -o t --ratio 2", 2, "ratio");
  expect_failure(dir, "spectrum g -o t --draws 0", 2, "nothing to do");
  expect_failure(dir, "spectrum g -o t --run none", 3, "none");
  dir.write("m.smi", "CCO\nCCN\n");
  expect_failure(dir, "spectrum m.smi -o t", 3, "m.smi: molecules; a spectrum is that of one graph");
  dir.write("e.csv", "0,1\n1,2\n");
  expect_failure(dir, "spectrum e.csv -o t", 3, "no node features");
  EXPECT_FALSE(std::filesystem::exists(dir / "t"));
}

}  // namespace
}  // namespace graphpae
