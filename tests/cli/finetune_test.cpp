// finetune, from outside.
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

constexpr const char* kSmallMolecules =
    " --set width=16 --set eigenvectors=4 --set gaussians=8 --set batch_size=8 --set dropout=0 --set edge_dropout=0 ";

// Chains of carbon; y is their length, z whether there is a nitrogen.
void write_molecules(const TempDir& dir) {
  std::string text = "smiles,y,z\n", train, valid, test;
  for (int k = 0; k < 40; ++k) {
    const int length = 1 + k % 10;
    text += std::string(length, 'C') + (k % 3 == 0 ? "N" : "O") + "," + std::to_string(length) + ".5," +
            (k % 7 == 0   ? ""
             : k % 3 == 0 ? "1.5"
                          : "0") +
            "\n";
    (k % 4 < 2 ? train : k % 4 == 2 ? valid : test) += std::to_string(k) + "\n";
  }
  dir.write("m/molecules.csv", text);
  dir.write("m/split/train.csv", train);
  dir.write("m/split/valid.csv", valid);
  dir.write("m/split/test.csv", test);
}

TEST(CliFinetune, FromScratchAndFromARun) {
  const TempDir dir;
  write_molecules(dir);
  const std::string small = kSmallMolecules;
  const Outcome scratch = run(dir, "finetune none m -o s --epochs 5 --json -q" + small);
  ASSERT_EQ(scratch.code, 0) << scratch.err;
  const json results = json::parse(scratch.out);
  EXPECT_EQ(results["epochs"], 5);
  EXPECT_EQ(results["metric"], "rmse");
  EXPECT_EQ(results["test"].size(), 2u);
  EXPECT_NEAR(results["test_mean"].get<double>(),
              (results["test"]["y"].get<double>() + results["test"]["z"].get<double>()) / 2, 1e-12);
  for (const char* key : {"final_loss", "seconds", "seconds_per_epoch", "peak_rss_bytes", "best_epoch"})
    EXPECT_TRUE(results[key].is_number()) << key;
  EXPECT_EQ(json::parse(slurp(dir / "s/results.json")), results);
  const std::string metrics = slurp(dir / "s/metrics.jsonl");
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 5);
  EXPECT_TRUE(fs::exists(dir / "s/model/head.safetensors"));
  ASSERT_EQ(run(dir, "embed s m -o e.npy -q").code, 0);

  ASSERT_EQ(run(dir, "pretrain m -o p --epochs 1 -q" + small).code, 0);
  const Outcome tuned = run(dir, "finetune p m -o t --epochs 5 --json -q");
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  EXPECT_NE(json::parse(tuned.out)["final_loss"], results["final_loss"]);
  EXPECT_NE(slurp(dir / "t/config.yaml").find("width: 16\n"), std::string::npos);
  ASSERT_EQ(run(dir, "finetune p m -o t2 --epochs 5 -q").code, 0);
  EXPECT_EQ(slurp(dir / "t/model/model.safetensors"), slurp(dir / "t2/model/model.safetensors"));
  EXPECT_EQ(slurp(dir / "t/model/head.safetensors"), slurp(dir / "t2/model/head.safetensors"));

  expect_failure(dir, "finetune p m -o u --width 32 -q", 2, "p: the run has width=16, the command line says 32");
  expect_failure(dir, "finetune p m -o t -q --epochs 1", 2, "--force starts anew");
}

TEST(CliFinetune, RefusesWhatCannotWork) {
  const TempDir dir;
  test::make_graph(dir);
  expect_failure(dir, "finetune none g -o r -q", 3, "g: is one graph; fine-tuning is for molecules");
  dir.write("m.csv", "smiles,y\nCC,1.5\nCCO,2.5\n");
  expect_failure(dir, "finetune none m.csv -o r -q", 3, "m.csv: the data have no split");
  expect_failure(dir, "finetune nowhere m.csv -o r -q", 3, "nowhere: neither a run directory nor a model directory");
  EXPECT_FALSE(fs::exists(dir / "r"));
}

}  // namespace
}  // namespace graphpae
