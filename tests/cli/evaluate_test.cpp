// `graphpae evaluate` and `pretrain --evaluate` from outside.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::expect_failure;
using test::kSmall;
using test::make_graph;
using test::Outcome;
using test::run;
using test::slurp;
using test::TempDir;

TEST(CliEvaluate, NumbersBaselinesAndFiles) {
  const TempDir dir;
  make_graph(dir);
  const std::string probe = " --set probe.epochs=60";
  const Outcome trained = run(dir, "pretrain g -o r --epochs 5 --evaluate --json" + probe + kSmall);
  ASSERT_EQ(trained.code, 0) << trained.err;
  const json after_training = json::parse(trained.out)["evaluation"];

  const Outcome outcome = run(dir, "evaluate r g --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["protocol"], "strict");
  EXPECT_EQ(result["metric"], "accuracy");
  EXPECT_EQ(result["splits"], 10);
  EXPECT_EQ(result["seeds"], 1);
  EXPECT_EQ(result["per_split"].size(), 10u);
  EXPECT_EQ(result["mean"], after_training["mean"]);  // the same model, the same probe
  EXPECT_EQ(result["per_split"], after_training["per_split"]);
  double sum = 0;
  for (const double score : result["per_split"]) sum += score;
  EXPECT_NEAR(result["mean"], sum / 10, 1e-12);
  EXPECT_TRUE(result["val"] > 0 && result["val"] < 1);
  EXPECT_LT(result["ci95"][0], result["mean"]);
  EXPECT_GT(result["ci95"][1], result["mean"]);
  for (const char* name : {"raw_features", "raw_positions", "untrained", "majority"}) {
    const double mean = result["baselines"][name]["mean"];
    EXPECT_TRUE(mean > 0 && mean < 1) << name;
  }
  EXPECT_EQ(result["probe"]["kind"], "tuned");
  EXPECT_EQ(result["interval"], "splits, corrected for overlap");
  for (const char* name : {"features", "neighbours", "adjacency", "degree", "positions"}) {
    const json& block = result["blocks"][name];
    EXPECT_EQ(block["per_split"].size(), 10u) << name;
    EXPECT_LE(block["ci95"][0], block["mean"]) << name;
  }
  EXPECT_EQ(result["blocks"]["features"]["mean"], result["baselines"]["raw_features"]["mean"]);
  EXPECT_TRUE(result["blocks"].contains(result["best_block"].get<std::string>()));
  EXPECT_NEAR(result["adds"]["mean"],
              result["with_embeddings"]["mean"].get<double>() - result["combination"]["mean"].get<double>(), 1e-12);
  EXPECT_LE(result["adds"]["ci95"][0], result["adds"]["mean"]);
  int64_t tested = 0;
  for (const auto& row : result["confusion"]) {
    for (const int64_t count : row) tested += count;
  }
  EXPECT_EQ(tested, result["test_nodes"]);
  EXPECT_EQ(result["classes"].size(), result["confusion"].size());
  const json kept = json::parse(slurp(dir / "r/results.json"));
  EXPECT_EQ(kept["evaluation"]["mean"], result["mean"]);
  EXPECT_EQ(kept["epochs"], 5);  // what training wrote is still there

  // Any number of threads; both protocols from one training of the probe; inflated numbers say so.
  const json both = json::parse(run(dir, "evaluate r g --protocol both --threads 1 --json -o out.json").out);
  EXPECT_EQ(both["mean"], result["mean"]);
  EXPECT_EQ(both["paper"]["protocol"], "paper");
  EXPECT_EQ(both["paper"]["inflated"], true);
  EXPECT_GT(both["paper"]["mean"], 0);
  EXPECT_GT(both["paper"]["pooled_test_trained_on"], 0.3);
  EXPECT_EQ(json::parse(slurp(dir / "out.json")), both);
  const json alone = json::parse(run(dir, "evaluate r g --baselines none --json").out);
  EXPECT_EQ(alone["per_split"], result["per_split"]);
  EXPECT_TRUE(alone["baselines"].empty());
  EXPECT_FALSE(alone.contains("blocks"));
  const Outcome text = run(dir, "evaluate r g --protocol paper");
  EXPECT_NE(text.out.find("INFLATED"), std::string::npos);
  EXPECT_NE(text.out.find("nodes were trained on"), std::string::npos);
  for (const char* title : {"embeddings", "untrained encoder", "raw features", "raw positions", "majority class"})
    EXPECT_NE(text.out.find(title), std::string::npos) << title;
  const std::string strict = run(dir, "evaluate r g").out;
  EXPECT_EQ(strict.find("INFLATED"), std::string::npos);
  for (const char* part : {"neighbours", "adjacency", "combined", "with embeddings", "verdict: the best block is"})
    EXPECT_NE(strict.find(part), std::string::npos) << part << strict;
}

TEST(CliEvaluate, FewLabelsMetricsAndBlocksInFiles) {
  const TempDir dir;
  make_graph(dir);
  ASSERT_EQ(run(dir, "pretrain g -o r --epochs 2 -q" + std::string(kSmall)).code, 0);
  const json few = json::parse(run(dir, "evaluate r g --json --labels-per-class 2,all").out);
  ASSERT_EQ(few["few_labels"].size(), 2u);
  EXPECT_EQ(few["few_labels"][0]["labels_per_class"], 2);
  EXPECT_EQ(few["few_labels"][1]["labels_per_class"], "all");
  for (const char* row : {"embeddings", "raw_features", "neighbours", "adjacency"})
    EXPECT_EQ(few["few_labels"][1]["rows"][row]["per_split"].size(), 10u) << row;
  EXPECT_EQ(few["few_labels"][1]["rows"]["embeddings"]["mean"], few["mean"]);
  expect_failure(dir, "evaluate r g --labels-per-class few", 2, "expected whole numbers");
  expect_failure(dir, "evaluate r g --labels-per-class 2 --probe released", 2, "is for the tuned probe");
  if (few["classes"].size() > 2) expect_failure(dir, "evaluate r g --metric roc_auc", 2, "for two classes");

  const Outcome embedded = run(dir, "embed r g --blocks degree,pretrained,neighbours -o e.csv --json");
  ASSERT_EQ(embedded.code, 0) << embedded.err;
  const json blocks = json::parse(embedded.out);
  EXPECT_EQ(blocks["blocks"][0]["name"], "degree");
  int64_t width = 0;
  for (const auto& block : blocks["blocks"]) width += block["columns"].get<int64_t>();
  EXPECT_EQ(blocks["columns"], width);
  EXPECT_EQ(slurp(dir / "e.csv").substr(0, 25), std::string("node,degree0,pretrained0,p").substr(0, 25));
  ASSERT_EQ(run(dir, "embed none g --blocks adjacency -o e.npz").code, 0);
  expect_failure(dir, "embed none g --blocks pretrained -o e.npz", 2, "needs a run");
  expect_failure(dir, "embed none g -o e.npz", 2, "--blocks says what to write");
  expect_failure(dir, "embed r g --blocks neigbours -o e.npz", 2, "did you mean 'neighbours'");
  expect_failure(dir, "embed r g --blocks morgan -o e.npz", 2, "not of a graph");
}

TEST(CliEvaluate, SplitsSeedsAndProbes) {
  const TempDir dir;
  make_graph(dir);
  ASSERT_EQ(run(dir, "pretrain g -o r --epochs 3 -q --set probe.epochs=40" + std::string(kSmall)).code, 0);
  ASSERT_EQ(run(dir, "pretrain g -o r2 --epochs 3 -q --seed 1 --set probe.epochs=40" + std::string(kSmall)).code, 0);
  const json random = json::parse(
      run(dir, "evaluate r g --json --probe released --split random:50/25/25 --num-splits 3 --stratified").out);
  EXPECT_EQ(random["splits"], 3);
  EXPECT_EQ(random["seeds"], 4);  // 3 x 4 is at least ten
  EXPECT_EQ(random["test_nodes"], 150);
  EXPECT_EQ(random["split_source"], "random 50/25/25, stratified");
  const json lbfgs = json::parse(run(dir, "evaluate r g --json --probe lbfgs").out);
  EXPECT_EQ(lbfgs["seeds"], 1);
  EXPECT_EQ(lbfgs["probe"]["kind"], "lbfgs");
  EXPECT_EQ(lbfgs, json::parse(run(dir, "evaluate r g --json --probe lbfgs --threads 1").out));
  const json one = json::parse(run(dir, "evaluate r g --json").out);
  const json two = json::parse(run(dir, "evaluate r2 g --json").out);
  const json joined = json::parse(run(dir, "evaluate r g --json --also r2").out);
  EXPECT_EQ(joined["seeds"], 2);
  EXPECT_NEAR(joined["mean"], (one["mean"].get<double>() + two["mean"].get<double>()) / 2, 1e-12);
  const json against = json::parse(run(dir, "evaluate r g --json --against r2").out)["against"];
  EXPECT_EQ(against["mean"], two["mean"]);
  EXPECT_EQ(against["run"], "r2");
  EXPECT_NEAR(against["difference"]["mean"], one["mean"].get<double>() - two["mean"].get<double>(), 1e-12);
  EXPECT_EQ(against["pairs"], 10);
  EXPECT_NE(run(dir, "evaluate r g --against r2").out.find("against r2, better on"), std::string::npos);
  const json released = json::parse(run(dir, "evaluate r g --json --probe released").out);
  EXPECT_EQ(released["probe"]["kind"], "adam");
  EXPECT_FALSE(released.contains("blocks"));
  const json other = json::parse(run(dir, "evaluate r g --json --probe released --probe.epochs 1").out);
  EXPECT_EQ(other["probe"]["epochs"], 1);
  EXPECT_NE(other["mean"], released["mean"]);

  expect_failure(dir, "evaluate r g --protocol papper", 2, "did you mean 'paper'?");
  expect_failure(dir, "evaluate r g --protocol both --probe lbfgs", 2, "paper protocol");
  expect_failure(dir, "evaluate r g --split random:60/60", 2, "--split random:60/60");
  expect_failure(dir, "evaluate r g --split half", 2, "expected public or random:TRAIN/VAL/TEST");
  expect_failure(dir, "evaluate r g --stratified", 2, "need --split random:");
  expect_failure(dir, "evaluate r g --num-splits 3", 2, "need --split random:");
  expect_failure(dir, "evaluate r g --probe lbfgs --seeds 3", 2, "has no seed");
  expect_failure(dir, "evaluate r g --also r2 --against r2", 2, "does not go with --also");
  expect_failure(dir, "evaluate r g --also r", 2, "has seed 0 as another run");
  expect_failure(dir, "evaluate r g --set epochs=3", 2, "unknown setting 'epochs'");
  expect_failure(dir, "evaluate nowhere g", 3, "neither a run directory nor a model directory");
  expect_failure(dir, "pretrain g -o x --protocol both" + std::string(kSmall), 2, "requires --evaluate");
  ASSERT_EQ(run(dir, "generate heterophilic -o g2 --nodes 100 --edges 300 --features 41 -q").code, 0);
  expect_failure(dir, "evaluate r g2", 3, "trained on 40 features per node, the data have 41");
  fs::remove(dir / "g/splits.npz");
  expect_failure(dir, "evaluate r g --split public", 3, "the data have no splits");
  const Outcome drawn = run(dir, "evaluate r g --json");
  EXPECT_NE(drawn.err.find("10 random ones of 60/20/20"), std::string::npos) << drawn.err;
  fs::remove(dir / "g/labels.npy");
  expect_failure(dir, "evaluate r g", 3, "the data have no labels");
  const std::string before = slurp(dir / "r/results.json");
  expect_failure(dir, "pretrain g -o r --force --evaluate" + std::string(kSmall), 3, "the data have no labels");
  EXPECT_EQ(slurp(dir / "r/results.json"), before);  // the earlier run was not touched
}

// Pairs of nodes that share everything: the twin in training gives the label away.
TEST(CliEvaluate, NamesTwins) {
  const TempDir dir;
  std::string edges = "src,dst\n", features, labels = "label\n";
  for (int i = 0; i < 60; ++i) {  // nodes 2i and 2i+1 are twins, both tied to hub 120 and to a node of their own
    for (int twin = 0; twin < 2; ++twin) {
      edges += std::to_string(2 * i + twin) + ",120\n";
      edges += std::to_string(2 * i + twin) + "," + std::to_string(121 + i) + "\n";
    }
  }
  for (int node = 0; node < 181; ++node) {
    features += std::to_string(node < 120 ? node / 2 % 7 : node % 5) + "," + std::to_string(1 + node / 2 % 3) + "\n";
    labels += std::to_string(node / 2 % 2) + "\n";
  }
  fs::create_directory(dir / "t");
  dir.write("t/edges.csv", edges);
  dir.write("t/features.csv", features);
  dir.write("t/labels.csv", labels);
  ASSERT_EQ(run(dir, "pretrain t -o r --epochs 2 -q --set probe.epochs=20" + std::string(kSmall)).code, 0);
  const std::string command = "evaluate r t --json --split random:50/20/30 --num-splits 4";
  const Outcome plain = run(dir, command);
  ASSERT_EQ(plain.code, 0) << plain.err;
  const json all = json::parse(plain.out), deduped = json::parse(run(dir, command + " --dedupe").out);
  EXPECT_GT(all["test_twins"], 30);  // half of 4 x 36 test twins, more or less
  EXPECT_NE(plain.err.find("share features and neighbourhood with a training node; --dedupe"), std::string::npos);
  const auto tested = [](const json& result) {
    int64_t sum = 0;
    for (const auto& row : result["confusion"]) {
      for (const int64_t count : row) sum += count;
    }
    return sum;
  };
  EXPECT_EQ(deduped["test_twins"], all["test_twins"]);
  EXPECT_EQ(tested(all) / all["seeds"].get<int64_t>(), all["test_nodes"]);
  EXPECT_EQ(tested(deduped) / all["seeds"].get<int64_t>(),
            all["test_nodes"].get<int64_t>() - all["test_twins"].get<int64_t>());
}

}  // namespace
}  // namespace graphpae
