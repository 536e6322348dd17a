// `graphpae auto` from outside.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::expect_failure;
using test::Outcome;
using test::run;
using test::slurp;
using test::TempDir;

void make_small_graph(const TempDir& dir) {
  const Outcome made = run(dir, "generate heterophilic -o g --nodes 200 --edges 900 --features 40 -q");
  ASSERT_EQ(made.code, 0) << made.err;
}

TEST(CliAuto, ChoosesScoresAndWrites) {
  const TempDir dir;
  make_small_graph(dir);
  const Outcome outcome = run(dir, "auto g -o r --budget 4s --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["protocol"], "strict");
  EXPECT_EQ(result["metric"], "accuracy");
  EXPECT_EQ(result["splits"], 10);
  EXPECT_EQ(result["per_split"].size(), 10u);
  for (const char* key : {"mean", "std", "ci95", "blocks", "best_block", "adds", "chosen", "seconds", "peak_rss_bytes",
                          "verdict", "embeddings", "predictions"})
    EXPECT_TRUE(result.contains(key)) << key;
  EXPECT_GT(result["mean"], result["baselines"]["majority"]["mean"]);
  double weight = 0;
  for (const auto& [name, share] : result["chosen"]["blocks"].items()) {
    EXPECT_TRUE(result["blocks"].contains(name)) << name;
    weight += share.get<double>();
  }
  EXPECT_NEAR(weight, 1, 1e-9);
  EXPECT_TRUE(result["blocks"].contains("neighbours"));
  EXPECT_TRUE(fs::exists(dir / "r/embeddings.npy"));
  // The fit has seen training and validation nodes of the first split.
  const std::string predictions = slurp(dir / "r/predictions.csv");
  EXPECT_EQ(std::count(predictions.begin(), predictions.end(), '\n'), 1 + 40);
  EXPECT_TRUE(predictions.starts_with("node,class,p_0,")) << predictions.substr(0, 60);
  EXPECT_NE(slurp(dir / "r/report.html").find("What was chosen, and why"), std::string::npos);
  expect_failure(dir, "auto g -o r", 2, "holds a run");
  // What is there is not made again, and ends with the same bytes.
  const std::string embeddings = slurp(dir / "r/embeddings.npy"), choice = slurp(dir / "r/choices/split-007.json");
  for (const char* name : {"r/choices/split-007.json", "r/results.json", "r/embeddings.npy", "r/predictions.csv"})
    fs::remove(dir / name);
  const Outcome again = run(dir, "auto g -o r --budget 4s --json --resume --threads 1");
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(slurp(dir / "r/choices/split-007.json"), choice);
  EXPECT_EQ(slurp(dir / "r/embeddings.npy"), embeddings);
  EXPECT_EQ(slurp(dir / "r/predictions.csv"), predictions);
  EXPECT_EQ(json::parse(again.out)["per_split"], result["per_split"]);
  expect_failure(dir, "auto g -o r --resume --budget 5s", 2, "budget");
}

TEST(CliAuto, WithoutLabels) {
  const TempDir dir;
  make_small_graph(dir);
  fs::remove(dir / "g/labels.npy");
  fs::remove(dir / "g/splits.npz");
  fs::remove(dir / "g/classes.csv");
  const Outcome outcome = run(dir, "auto g -o r --budget 3s --json -q");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_TRUE(result["predictions"].is_null());
  EXPECT_FALSE(result.contains("mean"));
  EXPECT_TRUE(fs::exists(dir / "r/embeddings.npy"));
  EXPECT_TRUE(fs::exists(dir / "r/map.json"));
}

TEST(CliAuto, BlocksOnlyAndDryRun) {
  const TempDir dir;
  make_small_graph(dir);
  const Outcome plan = run(dir, "auto g --dry-run --json");
  ASSERT_EQ(plan.code, 0) << plan.err;
  EXPECT_EQ(json::parse(plan.out)["splits"], 10);
  EXPECT_FALSE(json::parse(plan.out)["models"].empty());
  const Outcome outcome =
      run(dir, "auto g -o r --blocks degree,adjacency --num-splits 2 --split random:50/25/25 --json -q");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["blocks"].size(), 2u);
  EXPECT_EQ(result["splits"], 2);
  EXPECT_TRUE(result["chosen"]["method"].is_null());
  EXPECT_FALSE(fs::exists(dir / "r/pretraining"));
}

TEST(CliAuto, RefusesWhatItCannotDo) {
  const TempDir dir;
  make_small_graph(dir);
  expect_failure(dir, "auto g", 2, "-o RUN");
  expect_failure(dir, "auto g -o r --budget soon", 2, "--budget soon");
  expect_failure(dir, "auto g -o r --blocks adjacensy", 2, "adjacensy");
  expect_failure(dir, "auto g -o r --metric f1", 2, "f1");
}

}  // namespace
}  // namespace graphpae
