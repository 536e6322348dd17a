// report, from outside.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "tests/cli/program.h"

namespace graphpae {
namespace {

using nlohmann::json;
using test::expect_failure;
using test::holds;
using test::kSmall;
using test::Outcome;
using test::run;
using test::slurp;
using test::TempDir;

TEST(CliReport, RunsLeaveTheirPage) {
  const TempDir dir;
  test::make_graph(dir);
  ASSERT_EQ(run(dir, std::string("pretrain g -o r --epochs 5 -q --set 'probe.epochs=20'") + kSmall).code, 0);
  const std::string page = slurp(dir / "r/report.html");
  EXPECT_TRUE(holds(page, "<h1>r</h1>"));
  EXPECT_TRUE(holds(page, "graphpae pretrain g -o r --epochs 5 -q --set probe.epochs=20"));
  EXPECT_TRUE(holds(page, "There is no map yet"));
  EXPECT_FALSE(std::filesystem::exists(dir / "r/map.json"));

  // evaluate adds its table and the map; a report made again shows the same.
  ASSERT_EQ(run(dir, "evaluate r g -q --seeds 1").code, 0);
  const std::string evaluated = slurp(dir / "r/report.html");
  EXPECT_TRUE(holds(evaluated, "<td>strict</td><td>raw positions</td>"));
  EXPECT_TRUE(holds(evaluated, "\"groupedBy\":\"class\""));
  EXPECT_EQ(json::parse(slurp(dir / "r/map.json"))["ids"].size(), 200u);
  const Outcome again = run(dir, "report r");
  EXPECT_EQ(again.code, 0) << again.err;
  EXPECT_EQ(again.out, "r/report.html\n");
  EXPECT_EQ(slurp(dir / "r/report.html"), evaluated);

  // --data makes the map anew, also from other data.
  std::filesystem::remove(dir / "r/map.json");
  const Outcome with_data = run(dir, "report r --data g -o page.html --json");
  ASSERT_EQ(with_data.code, 0) << with_data.err;
  EXPECT_EQ(json::parse(with_data.out)["output"], "page.html");
  EXPECT_EQ(slurp(dir / "page.html"), evaluated);

  // A run that goes on keeps the command that began it.
  ASSERT_EQ(run(dir, "pretrain g -o r --resume -q").code, 0);
  EXPECT_TRUE(holds(slurp(dir / "r/environment.json"), "pretrain g -o r --epochs 5"));
  // One that starts anew does not keep the map of the old one.
  ASSERT_EQ(run(dir, std::string("pretrain g -o r --epochs 1 --force -q") + kSmall).code, 0);
  EXPECT_FALSE(std::filesystem::exists(dir / "r/map.json"));
}

TEST(CliReport, InterruptedNewerAndOtherDirectories) {
  const TempDir dir;
  test::make_graph(dir);
  const Outcome stopped =
      test::run_and_signal(dir, std::string("pretrain g -o r --epochs 100000 -q") + kSmall, "INT", 3);
  ASSERT_EQ(stopped.code, 130) << stopped.err;
  const Outcome report = run(dir, "report r");
  ASSERT_EQ(report.code, 0) << report.err;
  EXPECT_TRUE(holds(slurp(dir / "r/report.html"), "of 100000 epochs are done"));
  expect_failure(dir, "report none", 3, "none: does not exist");
  expect_failure(dir, "report g", 3, "g: no run directory, it has no config.yaml");
  expect_failure(dir, "report r r", 2, "-o FILE.html is required");
  expect_failure(dir, "report r --export xml", 2, "--export");
  expect_failure(dir, "report r --spectrum g", 3, "g: no spectrum");
  expect_failure(dir, "report r --data g", 3, "r");  // it has no model yet
  dir.write("r/environment.json", "{\"version\":\"77.0.0\"}");
  expect_failure(dir, "report r", 3, "was made by graphpae 77.0.0");
}

TEST(CliReport, MetricsAsCsvAndForTensorBoard) {
  const TempDir dir;
  test::make_graph(dir);
  ASSERT_EQ(run(dir, std::string("pretrain g -o r --epochs 4 -q") + kSmall).code, 0);
  const Outcome csv = run(dir, "report r --export csv");
  ASSERT_EQ(csv.code, 0) << csv.err;
  EXPECT_EQ(csv.out, "r/metrics.csv\n");
  const std::string text = slurp(dir / "r/metrics.csv");
  EXPECT_TRUE(text.starts_with("epoch,loss,loss_feature,loss_position,lr,seconds\n1,")) << text;
  EXPECT_EQ(std::count(text.begin(), text.end(), '\n'), 5);
  ASSERT_EQ(run(dir, "report r --export csv -o other/m.csv").code, 0);
  EXPECT_EQ(slurp(dir / "other/m.csv"), text);
  const Outcome events = run(dir, "report r --export tensorboard --json");
  ASSERT_EQ(events.code, 0) << events.err;
  const std::string file = json::parse(events.out)["files"][0];
  EXPECT_TRUE(file.starts_with("r/tensorboard/events.out.tfevents.")) << file;
  EXPECT_TRUE(holds(slurp(dir / file), "brain.Event:2"));
  EXPECT_TRUE(holds(slurp(dir / file), "loss_position"));
}

TEST(CliReport, FineTunedMoleculesAndComparison) {
  const TempDir dir;
  std::string table = "smiles,y\n", train, rest[2];
  for (int n = 0; n < 30; ++n) {
    table += std::string(1 + n / 2, 'C') + (n % 2 ? "O" : "N") + "," + std::to_string(0.1 * n) + "\n";
    (n % 5 == 4 ? rest[n % 2] : train) += std::to_string(n) + "\n";
  }
  dir.write("m/molecules.csv", table);
  dir.write("m/split/train.csv", train);
  dir.write("m/split/valid.csv", rest[0]);
  dir.write("m/split/test.csv", rest[1]);
  const std::string small = " --set width=16 --set layers=2 --set gaussians=8 --set eigenvectors=3 -q";
  ASSERT_EQ(run(dir, "pretrain m -o a --epochs 2" + small).code, 0);
  ASSERT_EQ(run(dir, "finetune a m -o b --epochs 3 -q").code, 0);
  const std::string page = slurp(dir / "b/report.html");
  EXPECT_TRUE(holds(page, "Fine-tuned on m"));
  EXPECT_TRUE(holds(page, "<td>test part: y</td><td>MAE</td>"));
  EXPECT_TRUE(holds(page, "Score on the validation part"));
  ASSERT_EQ(run(dir, "report a b -o c.html").code, 0);
  EXPECT_TRUE(holds(slurp(dir / "c.html"), "<h1>2 runs compared</h1>"));
  ASSERT_EQ(run(dir, "report a --data m").code, 0);
  EXPECT_TRUE(holds(slurp(dir / "a/report.html"), "molecule"));
  EXPECT_TRUE(holds(slurp(dir / "a/map.json"), "<svg "));
}

}  // namespace
}  // namespace graphpae
