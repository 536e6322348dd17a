// One run, one process; finished runs get more epochs; pages say how to repeat a run. From outside.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/molecule_table.h"
#include "tests/cli/program.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::expect_failure;
using test::holds;
using test::kSmall;
using test::Outcome;
using test::run;
using test::slurp;
using test::TempDir;

// Losses and learning rates of all epochs.
std::string curve(const std::string& directory) {
  std::string text;
  std::istringstream lines(slurp(directory + "/metrics.jsonl"));
  for (std::string line; std::getline(lines, line);) {
    const json epoch = json::parse(line);
    text += epoch["loss"].dump() + " " + epoch["lr"].dump() + "\n";
  }
  return text;
}

void expect_same_training(const TempDir& dir, const std::string& a, const std::string& b,
                          const std::string& model = "model") {
  EXPECT_EQ(slurp(dir / (a + "/" + model + "/model.safetensors")),
            slurp(dir / (b + "/" + model + "/model.safetensors")));
  EXPECT_FALSE(slurp(dir / (a + "/" + model + "/model.safetensors")).empty()) << a;
  if (model == "model") {
    EXPECT_EQ(curve(dir / a), curve(dir / b));
  }
}

TEST(CliRunDirectory, TwoRunsDoNotShareOne) {
  const TempDir dir;
  test::make_graph(dir);
  // The first runs until it is killed; meanwhile others knock.
  const std::string first = "pretrain g -o r --epochs 1000000 --schedule constant -q" + std::string(kSmall);
  const std::string knock =
      "for verb in 'pretrain g -o r --force' 'pretrain g -o r' 'pretrain g -o r --resume' 'finetune none g -o r "
      "--force'; do '" GRAPHPAE_PROGRAM "' $verb --epochs 2 " +
      std::string(kSmall) + " -q 2>>said; echo $? >>said; done";
  const std::string command =
      "cd '" + dir.path() + "' && { '" GRAPHPAE_PROGRAM "' " + first +
      " & pid=$!; echo $pid >pid; tries=0; while [ \"$(cat r/metrics.jsonl 2>/dev/null | wc -l)\" "
      "-lt 3 ] && [ $tries -lt 2400 ]; do sleep 0.05; tries=$((tries+1)); done; " +
      knock + "; cp r/run.lock held; kill -9 $pid; wait $pid; } 2>/dev/null";
  EXPECT_EQ(WEXITSTATUS(std::system(command.c_str())), 137);
  std::string pid = slurp(dir / "pid");
  pid.pop_back();
  const std::string said = slurp(dir / "said");
  const std::string error = "graphpae: error: r: process " + pid + " on ";
  int refused = 0;
  for (size_t at = 0; (at = said.find(error, at)) != std::string::npos; ++at) ++refused;
  EXPECT_EQ(refused, 4) << said;
  EXPECT_TRUE(holds(said, "is writing into it (graphpae pretrain g -o r --epochs 1000000 ")) << said;
  EXPECT_EQ(std::count(said.begin(), said.end(), '\n'), 8) << said;
  EXPECT_TRUE(holds(slurp(dir / "held"), "pid " + pid + "\nhost ")) << slurp(dir / "held");
  // Every line of the metrics is of the first.
  std::istringstream lines(slurp(dir / "r/metrics.jsonl"));
  int64_t epoch = 0;
  for (std::string line; std::getline(lines, line) && !lines.eof();) EXPECT_EQ(json::parse(line)["epoch"], ++epoch);
  // A dead process holds nothing, and a run that ends leaves no lock.
  EXPECT_TRUE(fs::exists(dir / "r/run.lock"));
  ASSERT_EQ(run(dir, "pretrain g -o r --force --epochs 2 -q" + std::string(kSmall)).code, 0);
  EXPECT_FALSE(fs::exists(dir / "r/run.lock"));
  // What is refused for another reason leaves none either.
  fs::create_directories(dir / "other");
  dir.write("other/mine.txt", "x");
  expect_failure(dir, "pretrain g -o other --epochs 2" + std::string(kSmall), 2, "exists and is not empty");
  expect_failure(dir, "pretrain g -o new --mask-ratio 0.001" + std::string(kSmall), 2, "masks none");
  EXPECT_FALSE(fs::exists(dir / "other/run.lock"));
  EXPECT_FALSE(fs::exists(dir / "new"));
}

TEST(CliRunDirectory, FinishedRunsGetMoreEpochs) {
  const TempDir dir;
  test::make_graph(dir);
  const std::string small = std::string(kSmall) + " --dropout 0.2 -q ";
  // A constant rate: as if it had been asked for at once.
  ASSERT_EQ(run(dir, "pretrain g -o whole --epochs 12 --schedule constant" + small).code, 0);
  ASSERT_EQ(
      run(dir, "pretrain g -o r --epochs 5 --schedule none --evaluate --seeds 1 --set probe.epochs=5" + small).code, 0);
  ASSERT_TRUE(fs::exists(dir / "r/map.json"));
  const Outcome more = run(dir, "pretrain g -o r --resume --epochs 12");
  ASSERT_EQ(more.code, 0) << more.err;
  EXPECT_TRUE(holds(more.err, "prolonged from 5 to 12 epochs\n")) << more.err;
  EXPECT_TRUE(holds(more.err, "going on after epoch 5")) << more.err;
  expect_same_training(dir, "whole", "r");
  EXPECT_EQ(json::parse(slurp(dir / "r/results.json"))["epochs"], 12);
  EXPECT_FALSE(json::parse(slurp(dir / "r/results.json")).contains("evaluation"));  // of what it was
  EXPECT_FALSE(fs::exists(dir / "r/map.json"));
  EXPECT_TRUE(holds(slurp(dir / "r/config.yaml"), "epochs: 12\n"));
  EXPECT_TRUE(holds(slurp(dir / "r/config.yaml"), "schedule: constant\n"));

  // A cosine begins anew, as if the restart had been asked for at once.
  ASSERT_EQ(run(dir, "pretrain g -o twice --epochs 11 --restarts 4,7" + small).code, 0);
  ASSERT_EQ(run(dir, "pretrain g -o c --epochs 4" + small).code, 0);
  const Outcome restarted = run(dir, "pretrain g -o c --resume --set epochs=7");
  ASSERT_EQ(restarted.code, 0) << restarted.err;
  EXPECT_TRUE(
      holds(restarted.err, "prolonged from 4 to 7 epochs; the learning rate begins anew at 0.001 after epoch 4"))
      << restarted.err;
  ASSERT_EQ(run(dir, "pretrain g -o c --resume --epochs 11 -q").code, 0);
  expect_same_training(dir, "twice", "c");
  ASSERT_EQ(run(dir, "pretrain g -o c --resume --epochs 11 -q").code, 0);  // asked for again, there is nothing to do

  // Fewer epochs, and more that nobody named, are no prolongation.
  expect_failure(dir, "pretrain g -o c --resume --epochs 4", 2, "c: the run has epochs=11, the command line says 4");
  dir.write("long.yaml", "epochs: 30\nrestarts: 4,7\n");
  expect_failure(dir, "pretrain g -o c --resume --config long.yaml", 2,
                 "c: the run has epochs=11, recipe or file say 30; "
                 "--epochs 30 prolongs it");
  expect_failure(dir, "pretrain g -o c --resume --epochs 20 --restarts 5", 2, "restarts");
  expect_failure(dir, "pretrain g -o new --epochs 5 --restarts 5" + small, 2, "restarts: 5 does not ascend");
  expect_failure(dir, "pretrain g -o new --epochs 5 --restarts 2 --schedule constant" + small, 2, "restarts");
  // Other data change nothing.
  ASSERT_EQ(run(dir, "generate heterophilic -o g2 --nodes 100 --edges 300 --features 41 -q").code, 0);
  expect_failure(dir, "pretrain g2 -o c --resume --epochs 20", 3, "belongs to other data");
  EXPECT_TRUE(holds(slurp(dir / "c/config.yaml"), "epochs: 11\n"));
}

TEST(CliRunDirectory, AProlongedRunThatIsKilledGoesOn) {
  const TempDir dir;
  test::make_graph(dir);
  const std::string small = std::string(kSmall) + " --dropout 0.2 -q --checkpoint-every 7 ";
  ASSERT_EQ(run(dir, "pretrain g -o whole --epochs 300 --restarts 20" + small).code, 0);
  ASSERT_EQ(run(dir, "pretrain g -o r --epochs 20" + small).code, 0);
  const Outcome killed =
      test::run_and_signal(dir, "pretrain g -o r --resume --epochs 300 -q --checkpoint-every 7", "KILL", 60);
  if (killed.code == 137) {
    ASSERT_EQ(run(dir, "report r").code, 0);
    EXPECT_TRUE(holds(slurp(dir / "r/report.html"), "This run is being prolonged to 300 epochs"));
    EXPECT_TRUE(holds(slurp(dir / "r/report.html"), "Results are those after 20."));
  }
  ASSERT_EQ(run(dir, "pretrain g -o r --resume -q").code, 0);  // without saying it again
  expect_same_training(dir, "whole", "r");
}

constexpr const char* kTinyMolecules = " --set width=16 --set layers=2 --set gaussians=8 --set eigenvectors=3 -q ";

TEST(CliRunDirectory, MoleculesAndFineTuningAreProlonged) {
  const TempDir dir;
  dir.write("mole cules.csv", test::molecule_table("id,smiles,odd,weight"));
  test::make_graph(dir);
  const std::string data = "'mole cules.csv'", small = kTinyMolecules;
  ASSERT_EQ(run(dir, "pretrain " + data + " -o whole --epochs 5 --set batch_size=16" + small).code, 0);
  ASSERT_EQ(run(dir, "pretrain " + data + " -o m --epochs 2 --set batch_size=16" + small).code, 0);
  ASSERT_EQ(run(dir, "pretrain " + data + " -o m --resume --epochs 5 -q").code, 0);
  expect_same_training(dir, "whole", "m");

  const std::string tuned = " --tasks weight -q";
  ASSERT_EQ(run(dir, "finetune m " + data + " -o twhole --epochs 6" + tuned).code, 0);
  ASSERT_EQ(run(dir, "finetune m " + data + " -o t --epochs 2" + tuned).code, 0);
  const Outcome more = run(dir, "finetune m " + data + " -o t --resume --epochs 6 --tasks weight");
  ASSERT_EQ(more.code, 0) << more.err;
  EXPECT_TRUE(holds(more.err, "prolonged from 2 to 6 epochs")) << more.err;
  expect_same_training(dir, "twhole", "t");
  EXPECT_EQ(slurp(dir / "twhole/test_predictions.csv"), slurp(dir / "t/test_predictions.csv"));

  // Every split of a graph, by a cosine.
  const std::string nodes = "finetune none g --lr 0.01 -q" + std::string(kSmall);
  ASSERT_EQ(run(dir, nodes + " -o nwhole --epochs 5 --restarts 2").code, 0);
  ASSERT_EQ(run(dir, nodes + " -o n --epochs 2").code, 0);
  ASSERT_EQ(run(dir, "finetune none g -o n --resume --epochs 5 -q").code, 0);
  for (const char* split : {"splits/0", "splits/9"}) {
    EXPECT_EQ(curve(dir / (std::string("nwhole/") + split)), curve(dir / (std::string("n/") + split)));
    expect_same_training(dir, "nwhole", "n", std::string(split) + "/model");
    EXPECT_TRUE(holds(slurp(dir / (std::string("n/") + split + "/config.yaml")), "epochs: 5\n"));
  }
  EXPECT_TRUE(holds(slurp(dir / "n/config.yaml"), "restarts: 2\n"));
}

}  // namespace
}  // namespace graphpae
