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
  EXPECT_NE(slurp(dir / "s/spectrum.html").find("<canvas id=\"chart3\""), std::string::npos);

  const Outcome some = run(dir, "spectrum g -o t --draws 1 --eigenvectors 30");
  ASSERT_EQ(some.code, 0) << some.err;
  EXPECT_NE(some.out.find("the 30 lowest of 200 eigenvectors"), std::string::npos) << some.out;
}

TEST(CliSpectrum, RefusesWhatCannotWork) {
  const TempDir dir;
  test::make_graph(dir);
  ASSERT_EQ(run(dir, "spectrum g -o s --draws 1 -q").code, 0);
  expect_failure(dir, "spectrum g -o s --draws 1 -q", 2, "s: holds a spectrum; --force writes over it");
  expect_failure(dir, "spectrum g -o t --ratio 2", 2, "ratio");
  dir.write("m.smi", "CCO\nCCN\n");
  expect_failure(dir, "spectrum m.smi -o t", 3, "m.smi: molecules; a spectrum is that of one graph");
  dir.write("e.csv", "0,1\n1,2\n");
  expect_failure(dir, "spectrum e.csv -o t", 3, "no node features");
  EXPECT_FALSE(std::filesystem::exists(dir / "t"));
}

}  // namespace
}  // namespace graphpae
