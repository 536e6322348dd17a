// `graphpae evaluate` and `pretrain --evaluate` on molecules, from outside.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::expect_failure;
using test::holds;
using test::Outcome;
using test::run;
using test::slurp;
using test::TempDir;

const std::string kSmallProbed =
    " -q --epochs 1 --set width=12 --set eigenvectors=4 --set gaussians=8 --set mask_ratio=0.4 --set batch_size=16 ";

// 72 molecules of 9 scaffolds with 8 tails each: whether the tail ends in nitrogen, something odd that is
// missing for every fifth molecule, and a number that grows with the tail. No split.
void write_scaffolds(const TempDir& dir) {
  const char* rings[] = {"C1CC1",    "C1CCC1",     "C1CCCC1",     "C1CCCCC1",      "c1ccccc1",
                         "c1ccncc1", "C1CCCCCCC1", "C1CCC2CC2C1", "c1ccc2ccccc2c1"};
  std::string classes = "smiles,nitrogen,odd\n", numbers = "smiles,size\n", mixed = "smiles,nitrogen,size\n";
  int row = 0;
  for (int ring = 0; ring < 9; ++ring) {
    for (int tail = 0; tail < 8; ++tail, ++row) {
      const bool nitrogen = tail % 2 == 0;
      const std::string smiles = (nitrogen ? "N" : "O") + std::string(1 + tail / 2, 'C') + rings[ring];
      const std::string odd = row % 5 == 0 ? "" : std::to_string((3 * tail + ring) % 4 < 2 ? 1 : 0);
      const std::string size = std::to_string(0.5 * tail + 0.1 * ring);
      classes += smiles + "," + std::to_string(nitrogen ? 1 : 0) + "," + odd + "\n";
      numbers += smiles + "," + size + "\n";
      mixed += smiles + "," + std::to_string(nitrogen ? 1 : 0) + "," + size + "\n";
    }
  }
  dir.write("c.csv", classes);
  dir.write("n.csv", numbers);
  dir.write("x.csv", mixed);
  // The numbers once more, with a split.
  fs::create_directories(dir / "d/split");
  dir.write("d/molecules.csv", numbers);
  std::string parts[3];
  for (int i = 0; i < 72; ++i) parts[i % 8 == 3 ? 1 : i % 8 == 5 ? 2 : 0] += std::to_string(i) + "\n";
  dir.write("d/split/train.csv", parts[0]);
  dir.write("d/split/valid.csv", parts[1]);
  dir.write("d/split/test.csv", parts[2]);
}

json evaluated(const TempDir& dir, const std::string& arguments) {
  const Outcome outcome = run(dir, "evaluate " + arguments + " --json");
  EXPECT_EQ(outcome.code, 0) << arguments << "\n" << outcome.err;
  return json::parse(outcome.out);
}

TEST(CliEvaluateMolecules, NumbersBaselinesAndFiles) {
  const TempDir dir;
  write_scaffolds(dir);
  const Outcome trained = run(dir, "pretrain d -o r --evaluate --json" + kSmallProbed);
  ASSERT_EQ(trained.code, 0) << trained.err;
  const json after_training = json::parse(trained.out)["evaluation"];

  const json result = evaluated(dir, "r d -o out.json");
  EXPECT_EQ(result["protocol"], "strict");
  EXPECT_EQ(result["metric"], "rmse");
  EXPECT_EQ(result["splits"], 1);
  EXPECT_EQ(result["seeds"], 1);
  EXPECT_EQ(result["interval"], "bootstrap over test rows");
  EXPECT_LT(result["ci95"][0], result["mean"]);
  EXPECT_GT(result["ci95"][1], result["mean"]);
  for (const char* name : {"morgan", "descriptors", "atom_pairs"})
    EXPECT_TRUE(std::isfinite(result["blocks"][name]["mean"].get<double>())) << name;
  EXPECT_NEAR(result["adds"]["mean"],
              result["combination"]["mean"].get<double>() - result["with_embeddings"]["mean"].get<double>(), 1e-12);
  EXPECT_EQ(result["per_split"], json({result["mean"]}));
  EXPECT_EQ(result["mean"], after_training["mean"]);  // the same model, the same probe
  EXPECT_EQ(result["split_source"], "from the data");
  EXPECT_EQ(result["split_sizes"], json({{54, 9, 9}}));
  EXPECT_EQ(result["tasks"][0]["task"], "size");
  EXPECT_EQ(result["tasks"][0]["mean"], result["mean"]);
  EXPECT_EQ(result["tasks"][0]["val"], result["val"]);
  EXPECT_GT(result["tasks"][0]["penalties"][0], 0);
  EXPECT_EQ(result["probe"]["kind"], "ridge");
  EXPECT_EQ(result["missing_training_labels"], 0);
  EXPECT_EQ(result["unconverged"], 0);
  for (const char* name : {"raw_features", "untrained", "majority"})
    EXPECT_TRUE(std::isfinite(result["baselines"][name]["mean"].get<double>())) << name;
  EXPECT_LT(result["baselines"]["raw_features"]["mean"], result["baselines"]["majority"]["mean"]);
  // The constant by hand: mean of the 54 training labels, tails 0 1 2 4 6 7, against tail 5.
  double square = 0;
  for (int ring = 0; ring < 9; ++ring) square += std::pow(2.5 + 0.1 * ring - (0.5 * 20 / 6 + 0.4), 2) / 9;
  EXPECT_NEAR(result["baselines"]["majority"]["mean"], std::sqrt(square), 1e-9);
  EXPECT_EQ(json::parse(slurp(dir / "out.json")), result);
  EXPECT_EQ(json::parse(slurp(dir / "r/results.json"))["evaluation"]["mean"], result["mean"]);
  EXPECT_EQ(json::parse(slurp(dir / "r/results.json"))["epochs"], 1);

  const json one_thread = evaluated(dir, "r d --threads 1 --protocol both");
  EXPECT_EQ(one_thread["mean"], result["mean"]);
  EXPECT_EQ(one_thread["paper"]["mean"], result["mean"]);
  const std::string text = run(dir, "evaluate r d --protocol both").out;
  EXPECT_TRUE(holds(text, "RMSE (smaller is better), 1 split (from the data) x 1 seed, 1 task\n")) << text;
  EXPECT_TRUE(holds(text, "paper:  the same as strict, as no training label is missing\n")) << text;
  EXPECT_FALSE(holds(text, "INFLATED"));
  for (const char* title : {"embeddings", "untrained encoder", "raw features", "mean of the labels"})
    EXPECT_TRUE(holds(text, title)) << title;
}

TEST(CliEvaluateMolecules, ClassesTasksAndMissingLabels) {
  const TempDir dir;
  write_scaffolds(dir);
  ASSERT_EQ(run(dir, "pretrain c.csv -o r" + kSmallProbed).code, 0);
  const Outcome outcome = run(dir, "evaluate r c.csv --protocol both --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(holds(outcome.err, "the data have no split: molecules are split 80/10/10 by scaffold")) << outcome.err;
  const json result = json::parse(outcome.out);
  EXPECT_EQ(result["metric"], "rocauc");
  EXPECT_EQ(result["split_source"], "by scaffold");
  EXPECT_EQ(result["probe"]["kind"], "logistic");
  EXPECT_EQ(result["baselines"]["majority"]["mean"], 0.5);
  EXPECT_GT(result["missing_training_labels"], 5);
  ASSERT_EQ(result["tasks"].size(), 2u);
  EXPECT_NEAR(result["mean"], (result["tasks"][0]["mean"].get<double>() + result["tasks"][1]["mean"].get<double>()) / 2,
              1e-12);
  EXPECT_EQ(result["tasks"][0]["raw_features"], 1.0);  // the element of the tail is among the codes
  const json& paper = result["paper"];
  EXPECT_EQ(paper["protocol"], "paper");
  EXPECT_EQ(paper["metric"], "rocauc");
  const std::string text = run(dir, "evaluate r c.csv --protocol both").out;
  EXPECT_TRUE(holds(text, "ROC-AUC in %, 1 split (by scaffold) x 1 seed, 2 tasks\n")) << text;
  EXPECT_TRUE(holds(text, "of training labels that are missing count as 0")) << text;
  EXPECT_TRUE(holds(text, "by task, strict")) << text;
  EXPECT_TRUE(holds(text, "\nnitrogen ")) << text;
  EXPECT_FALSE(holds(text, "INFLATED"));

  const json random = evaluated(dir, "r c.csv --split random:50/10/40 --num-splits 3 --protocol both");
  EXPECT_EQ(random["splits"], 3);
  EXPECT_EQ(random["per_split"].size(), 3u);
  EXPECT_EQ(random["split_source"], "random 50/10/40");
  EXPECT_LT(random["ci95"][0], random["mean"]);
  EXPECT_EQ(random["paper"]["tasks"][0]["mean"], random["tasks"][0]["mean"]);  // no label is missing
  EXPECT_NE(random["paper"]["tasks"][1]["mean"], random["tasks"][1]["mean"]);
  EXPECT_NE(evaluated(dir, "r c.csv --split random:50/10/40 --num-splits 3 --split-seed 1")["per_split"],
            random["per_split"]);
}

TEST(CliEvaluateMolecules, SeveralRuns) {
  const TempDir dir;
  write_scaffolds(dir);
  ASSERT_EQ(run(dir, "pretrain d -o r" + kSmallProbed).code, 0);
  ASSERT_EQ(run(dir, "pretrain d -o r2 --seed 1" + kSmallProbed).code, 0);
  ASSERT_EQ(run(dir, "pretrain d -o wide --seed 2" + kSmallProbed + "--set width=20").code, 0);
  const json one = evaluated(dir, "r d"), two = evaluated(dir, "r2 d"), joined = evaluated(dir, "r d --also r2");
  EXPECT_NE(one["mean"], two["mean"]);
  EXPECT_EQ(joined["seeds"], 2);
  EXPECT_EQ(joined["per_split_and_seed"], json({{one["mean"], two["mean"]}}));
  EXPECT_NEAR(joined["mean"], (one["mean"].get<double>() + two["mean"].get<double>()) / 2, 1e-12);
  EXPECT_LT(joined["ci95"][0], joined["mean"]);
  EXPECT_EQ(joined["tasks"][0]["penalties"].size(), 2u);
  const std::string splits = " --split random:60/20/20 --num-splits 2";
  const json first = evaluated(dir, "r d" + splits)["per_split"], second = evaluated(dir, "r2 d" + splits)["per_split"];
  EXPECT_EQ(evaluated(dir, "r d --also r2" + splits)["per_split_and_seed"],
            json({{first[0], second[0]}, {first[1], second[1]}}));
  expect_failure(dir, "evaluate r d --also wide", 2, "has width=20, the first run has 12");

  const json against = evaluated(dir, "r d --against wide")["against"];
  EXPECT_EQ(against["run"], "wide");
  EXPECT_EQ(against["mean"], evaluated(dir, "wide d")["mean"]);
  EXPECT_NEAR(against["difference"]["mean"], one["mean"].get<double>() - against["mean"].get<double>(), 1e-12);
  EXPECT_EQ(against["pairs"], 1);
  EXPECT_EQ(against["better"], one["mean"] < against["mean"] ? 1 : 0);  // errors: the smaller
  EXPECT_TRUE(holds(run(dir, "evaluate r d --against wide").out, " against wide, better on "));
}

TEST(CliEvaluateMolecules, RefusesWhatMeansNothing) {
  const TempDir dir;
  write_scaffolds(dir);
  test::make_graph(dir);
  ASSERT_EQ(run(dir, "pretrain d -o r" + kSmallProbed).code, 0);
  expect_failure(dir, "evaluate r d --probe adam", 2, "--probe is for one graph");
  expect_failure(dir, "evaluate r d --seeds 3", 2, "--seeds is for one graph");
  expect_failure(dir, "evaluate r d --stratified", 2, "--stratified is for one graph");
  expect_failure(dir, "evaluate r d --dedupe", 2, "--dedupe is for one graph");
  expect_failure(dir, "evaluate r d --probe.epochs 7", 2, "settings of the probe are for one graph");
  expect_failure(dir, "evaluate r d --protocol papper", 2, "did you mean 'paper'?");
  expect_failure(dir, "evaluate r d --split half", 2, "expected public, scaffold or random:TRAIN/VAL/TEST");
  expect_failure(dir, "evaluate r d --num-splits 3", 2, "need --split random:");
  expect_failure(dir, "evaluate r d --split random:60/60", 2, "--split random:60/60");
  expect_failure(dir, "evaluate r n.csv -q --split public", 3, "n.csv: --split public: the data have no split");
  expect_failure(dir, "evaluate r x.csv -q", 3, "x.csv: task nitrogen has labels 0 and 1 only, task size has others");
  EXPECT_EQ(evaluated(dir, "r x.csv -q --tasks nitrogen")["metric"], "rocauc");
  expect_failure(dir, "evaluate r g", 3, "g: the model was trained on molecules, the data are one graph");
  dir.write("s.csv", "smiles\nCCO\nCCN\n");
  expect_failure(dir, "evaluate r s.csv -q", 3, "s.csv: the data have no labels");
  dir.write("d/split/test.csv", "0\n");
  expect_failure(dir, "evaluate r d", 3, "id 0 is in both train and test");
  std::string same = "smiles,y\n";
  for (int i = 0; i < 20; ++i) same += std::string(1 + i, 'C') + "O,1\n";
  dir.write("same.csv", same);
  expect_failure(dir, "evaluate r same.csv -q --split random:60/20/20", 3,
                 "same.csv: split 0: task y is left out: 12 training labels of class 1 and 0 of class 0");

  // Before anything is written.
  const std::string before = slurp(dir / "r/results.json");
  expect_failure(dir, "pretrain s.csv -o r --force --evaluate" + kSmallProbed, 3, "the data have no labels");
  expect_failure(dir, "pretrain c.csv -o r --force --evaluate --dedupe" + kSmallProbed, 2, "is for one graph");
  EXPECT_EQ(slurp(dir / "r/results.json"), before);
}

}  // namespace
}  // namespace graphpae
