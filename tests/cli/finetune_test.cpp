// finetune and predict, from outside.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::expect_failure;
using test::lines_of;
using test::Outcome;
using test::run;
using test::slurp;
using test::TempDir;

constexpr const char* kSmallTargets =
    " --set width=16 --set eigenvectors=4 --set gaussians=8 --set batch_size=8 --set dropout=0 --set edge_dropout=0 ";

// Chains of carbon; y is their length, z whether there is a nitrogen.
void write_targets(const TempDir& dir) {
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

TEST(CliFinetune, DryRunWritesNothing) {
  const TempDir dir;
  write_targets(dir);
  const std::string small = kSmallTargets;
  const Outcome outcome = run(dir, "finetune none m --dry-run -o s --epochs 5 --one-at-a-time" + small);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("models, one after the other          [2]"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("10 epochs      about"), std::string::npos) << outcome.out;
  EXPECT_EQ(outcome.out.find("decoder"), std::string::npos) << outcome.out;
  EXPECT_FALSE(fs::exists(dir / "s"));

  const json estimate = json::parse(run(dir, "finetune none m --dry-run --json --epochs 5" + small).out);
  const json pretraining = json::parse(run(dir, "pretrain m --dry-run --json --epochs 5" + small).out);
  EXPECT_LT(estimate["parameters"], pretraining["parameters"]);
  EXPECT_GT(estimate["seconds_per_epoch"], 0.0);
  EXPECT_DOUBLE_EQ(estimate["seconds"].get<double>(), 5 * estimate["seconds_per_epoch"].get<double>());
  expect_failure(dir, "finetune none m" + small, 2, "-o RUN2 is required");
}

TEST(CliFinetune, FromScratchAndFromARun) {
  const TempDir dir;
  write_targets(dir);
  const std::string small = kSmallTargets;
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
  EXPECT_EQ(results["tasks"][0]["rmse"], results["test"]["y"]);
  EXPECT_NEAR(results["tasks"][0]["mae"].get<double>() / results["tasks"][0]["training_std"].get<double>(),
              results["tasks"][0]["mae_over_std"].get<double>(), 1e-12);
  EXPECT_EQ(json::parse(slurp(dir / "s/results.json")), results);
  EXPECT_EQ(lines_of(slurp(dir / "s/metrics.jsonl")).size(), 5u);
  ASSERT_EQ(run(dir, "embed s m -o e.npy -q").code, 0);

  ASSERT_EQ(run(dir, "pretrain m -o p --epochs 1 -q" + small).code, 0);
  const Outcome tuned = run(dir, "finetune p m -o t --epochs 5 --json -q");
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  EXPECT_NE(json::parse(tuned.out)["final_loss"], results["final_loss"]);
  EXPECT_NE(slurp(dir / "t/config.yaml").find("width: 16\n"), std::string::npos);
  ASSERT_EQ(run(dir, "finetune p m -o t2 --epochs 5 -q --threads 3").code, 0);
  EXPECT_EQ(slurp(dir / "t/model/model.safetensors"), slurp(dir / "t2/model/model.safetensors"));
  EXPECT_EQ(slurp(dir / "t/model/head.safetensors"), slurp(dir / "t2/model/head.safetensors"));

  // The shape of p with weights drawn anew is what none and the same settings give.
  const Outcome anew = run(dir, "finetune p m -o a --epochs 5 --from-scratch --json -q");
  ASSERT_EQ(anew.code, 0) << anew.err;
  EXPECT_EQ(json::parse(anew.out)["final_loss"], results["final_loss"]);
  EXPECT_EQ(json::parse(anew.out)["pretrained"], "none");

  // A table without a split is split by scaffold.
  std::string rings = "smiles,y,z\n";
  for (int k = 0; k < 40; ++k) rings += "C1" + std::string(2 + k % 20, 'C') + "1," + std::to_string(k % 20) + ",0.5\n";
  dir.write("t.csv", rings);
  const Outcome table = run(dir, "finetune p t.csv -o v --epochs 1");
  ASSERT_EQ(table.code, 0) << table.err;
  EXPECT_NE(table.err.find("split 80/10/10 by scaffold"), std::string::npos) << table.err;
  EXPECT_NE(table.out.find("MAE/std"), std::string::npos) << table.out;

  expect_failure(dir, "finetune p m -o u --width 32 -q", 2, "p: the run has width=16, the command line says 32");
  expect_failure(dir, "finetune p m -o t -q --epochs 1", 2, "--force starts anew");
  expect_failure(dir, "finetune p m --featurizer transfer -o u -q", 3,
                 "trained on codes of featurizer ogb, the data have those of transfer");
  dir.write("t/model/model.safetensors", slurp(dir / "s/model/head.safetensors"));
  expect_failure(dir, "finetune t m -o u -q", 3, "t/model/model.safetensors: ");
  EXPECT_FALSE(fs::exists(dir / "u"));
}

TEST(CliFinetune, TheRecipeSaysHowMoleculesAreRead) {
  const TempDir dir;
  write_targets(dir);
  const std::string words =
      "finetune none m -o r --recipe qm9 --units none --warmup 0 --layers 1 -q" + std::string(kSmallTargets);
  ASSERT_EQ(run(dir, words + "--epochs 1").code, 0);
  EXPECT_EQ(json::parse(slurp(dir / "r/model/config.json"))["atom_codes"].size(), 2u);
  EXPECT_EQ(run(dir, "finetune none m -o r --resume -q").code, 0);  // the same data, though no recipe is named
  EXPECT_EQ(run(dir, "predict r m -o p.csv -q").code, 0);
}

TEST(CliFinetune, ResumesToTheSameBytes) {
  const TempDir dir;
  write_targets(dir);
  const std::string arguments =
                        std::string("finetune none m --epochs 150 --head mlp --loss l1 --checkpoint-every 3 -q -o "),
                    small = kSmallTargets;
  ASSERT_EQ(run(dir, arguments + "whole" + small).code, 0);
  const Outcome killed = test::run_and_signal(dir, arguments + "r" + small, "KILL", 15);
  ASSERT_EQ(killed.code, 137);
  ASSERT_FALSE(fs::exists(dir / "r/results.json"));
  expect_failure(dir, "finetune none m --resume -o r -q --head linear", 2,
                 "r: the run has finetune.head=mlp, the command line says linear");
  expect_failure(dir, "finetune none m --resume -o r -q --lr 0.5", 2, "r: the run has lr=");
  expect_failure(dir, "finetune none m --resume -o r -q --targets y", 2, "belongs to targets y,z, now targets y");
  const Outcome stopped = test::run_and_signal(dir, "finetune none m --resume --checkpoint-every 3 -q -o r", "INT", 50);
  ASSERT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_NE(stopped.err.find("--resume goes on from there"), std::string::npos) << stopped.err;
  ASSERT_EQ(run(dir, "finetune none m --resume -q -o r").code, 0);
  for (const char* file : {"model/model.safetensors", "model/head.safetensors", "model/tasks.json"})
    EXPECT_TRUE(slurp(dir / ("whole/" + std::string(file))) == slurp(dir / ("r/" + std::string(file)))) << file;
  EXPECT_EQ(lines_of(slurp(dir / "r/metrics.jsonl")).size(), 150u);
  json one = json::parse(slurp(dir / "whole/results.json")), two = json::parse(slurp(dir / "r/results.json"));
  EXPECT_EQ(one["tasks"], two["tasks"]);
  EXPECT_EQ(one["best_epoch"], two["best_epoch"]);
  const Outcome again = run(dir, "finetune none m --resume -o r");
  EXPECT_EQ(again.code, 0);
  EXPECT_NE(again.err.find("the run is finished after 150 epochs"), std::string::npos) << again.err;
}

TEST(CliFinetune, TargetsUnitsAndOneAtATime) {
  const TempDir dir;
  write_targets(dir);
  const std::string small = kSmallTargets;
  const Outcome named = run(dir, "finetune none m -o n --epochs 2 --targets z --units z=D --loss l1 --json -q" + small);
  ASSERT_EQ(named.code, 0) << named.err;
  const json results = json::parse(named.out);
  EXPECT_EQ(results["test"].size(), 1u);
  EXPECT_EQ(results["metric"], "mae");
  EXPECT_EQ(results["tasks"][0]["unit"], "D");
  EXPECT_EQ(json::parse(slurp(dir / "n/model/tasks.json"))["tasks"][0]["unit"], "D");

  ASSERT_EQ(run(dir, "finetune none m -o o --epochs 2 --loss l1 --one-at-a-time -q" + small).code, 0);
  const json joined = json::parse(slurp(dir / "o/results.json"));
  EXPECT_EQ(joined["test"]["z"], results["test"]["z"]);
  EXPECT_EQ(joined["parts"], json({"targets/y", "targets/z"}));
  ASSERT_EQ(run(dir, "predict o m -o both.csv -q").code, 0);
  ASSERT_EQ(run(dir, "predict n m -o one.csv -q").code, 0);
  const auto both = lines_of(slurp(dir / "both.csv")), one = lines_of(slurp(dir / "one.csv"));
  EXPECT_EQ(both[0], "smiles,y,z");
  ASSERT_EQ(both.size(), 41u);
  EXPECT_EQ(both[7].substr(both[7].rfind(',')), one[7].substr(one[7].rfind(',')));
  expect_failure(dir, "embed o m -o e.npy -q", 3, "holds several models");

  expect_failure(dir, "finetune none m -o u --targets zz -q", 2, "no target 'zz' (did you mean 'z'?); there are y, z");
  expect_failure(dir, "finetune none m -o u --targets z,z -q", 2, "'z' is named twice");
  expect_failure(dir, "finetune none m -o u --units q=eV -q", 2, "units: no target 'q'");
  expect_failure(dir, "finetune none m -o u --loss l3 -q", 2, "'l3' is not one of auto|l1|l2|bce");
  expect_failure(dir, "finetune none m -o u --set finetune.hed=mlp -q", 2, "did you mean 'finetune.head'?");
  expect_failure(dir, "finetune none m -o u --protocol paper --patience 3 -q", 2, "use patience 0");
}

TEST(CliPredict, RowsStayWithTheirMolecules) {
  const TempDir dir;
  write_targets(dir);
  ASSERT_EQ(run(dir, "finetune none m -o r --epochs 3 -q" + std::string(kSmallTargets)).code, 0);
  dir.write("x.csv", "name,smiles\na,CCO\nb,nonsense\nc,CCCN\nd,\"C(C)(C),\"\ne,CCO\n");
  const Outcome kept = run(dir, "predict r x.csv --on-invalid nan -o kept.csv --json -q");
  ASSERT_EQ(kept.code, 0) << kept.err;
  EXPECT_EQ(json::parse(kept.out)["empty"], 2);
  EXPECT_EQ(json::parse(kept.out)["rows"], 5);
  const auto rows = lines_of(slurp(dir / "kept.csv"));
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(rows[0], "name,smiles,y,z");  // the ids of the table first
  EXPECT_EQ(rows[2], "b,nonsense,,");
  EXPECT_EQ(rows[4], "d,\"C(C)(C),\",,");
  EXPECT_EQ(rows[1].substr(1), rows[5].substr(1));
  EXPECT_TRUE(rows[3].starts_with("c,CCCN,")) << rows[3];
  EXPECT_NE(rows[1].substr(5), rows[3].substr(6));
  ASSERT_EQ(run(dir, "predict r x.csv -o all.csv -q").code, 0);
  EXPECT_EQ(lines_of(slurp(dir / "all.csv")), rows);  // a row per row by default
  ASSERT_EQ(run(dir, "predict r x.csv --on-invalid skip -o skipped.csv -q").code, 0);
  const auto skipped = lines_of(slurp(dir / "skipped.csv"));
  EXPECT_EQ(skipped, (std::vector<std::string>{rows[0], rows[1], rows[3], rows[5]}));
  ASSERT_EQ(run(dir, "predict r/model x.csv -o p.npy -q").code, 0);
  expect_failure(dir, "predict r x.csv -o x.csv -q", 2, "-o x.csv: is the file that is read, and would be replaced");
  expect_failure(dir, "predict r x.csv --on-invalid fail -o f.csv -q", 3, "x.csv:3: 'nonsense' is not a valid SMILES");
  expect_failure(dir, "predict r x.csv --featurizer transfer -o f.csv -q", 3,
                 "trained on codes of featurizer ogb, the data have those of transfer");
  expect_failure(dir, "predict r x.csv -o f.xls -q", 2, "expected .csv, .tsv or .npy");
  ASSERT_EQ(run(dir, "pretrain m -o p --epochs 1 -q" + std::string(kSmallTargets)).code, 0);
  expect_failure(dir, "predict p x.csv -o f.csv -q", 3, "p: this model was not fine-tuned, it has no head");
  test::make_graph(dir);
  expect_failure(dir, "predict r g -o f.csv -q", 3, "g: the model was trained on molecules, the data are one graph");
  EXPECT_FALSE(fs::exists(dir / "f.csv"));
}

TEST(CliFinetune, NodesOverSplits) {
  const TempDir dir;
  test::make_graph(dir);
  const std::string small = std::string(test::kSmall) + " --epochs 8 --patience 5 -q";
  const Outcome outcome = run(dir, "finetune none g -o r --json" + small);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json results = json::parse(outcome.out);
  EXPECT_EQ(results["metric"], "accuracy");
  EXPECT_EQ(results["per_split"].size(), 10u);
  EXPECT_EQ(results["test"]["accuracy"], results["mean"]);
  EXPECT_EQ(json::parse(slurp(dir / "r/splits/3/results.json"))["test"]["accuracy"], results["per_split"][3]);
  expect_failure(dir, "predict r g -o p.csv -q", 2,
                 "r: holds a model for each of 10 splits; name one, such as r/splits/0");
  ASSERT_EQ(run(dir, "predict r/splits/0 g -o p.csv -q").code, 0);
  const auto rows = lines_of(slurp(dir / "p.csv"));
  EXPECT_EQ(rows.size(), 201u);
  EXPECT_EQ(rows[0], "node,class,p_0,p_1,p_2,p_3,p_4");
  expect_failure(dir, "finetune none g -o u --targets y" + small, 2, "are for molecules");
  expect_failure(dir, "finetune none g -o u --recipe qm9 -q", 2, "one graph needs encoder=gat");
  EXPECT_FALSE(fs::exists(dir / "u"));
}

TEST(CliFinetune, RefusesWhatCannotWork) {
  const TempDir dir;
  dir.write("m.csv", "smiles,y\nCC,1.5\nCCO,2.5\n");
  expect_failure(dir, "finetune none m.csv -o r -q", 3, "m.csv: target 'y' has no label in the training part");
  expect_failure(dir, "finetune nowhere m.csv -o r -q", 3, "nowhere: neither a run directory nor a model directory");
  dir.write("m/molecules.csv", "smiles,y,z\nCC,1.5,\nCCO,2.5,2\nCCN,2,3\n");
  dir.write("m/split/train.csv", "0\n");
  dir.write("m/split/valid.csv", "1\n");
  dir.write("m/split/test.csv", "2\n");
  expect_failure(dir, "finetune none m -o r -q", 3,
                 "m: target 'z' has no label in the training part; --targets leaves");
  EXPECT_FALSE(fs::exists(dir / "r"));
}

}  // namespace
}  // namespace graphpae
