// Graphs as people keep them, from the outside.
#include <nlohmann/json.hpp>

#include "graphpae/core/rng.h"
#include "tests/cli/program.h"

namespace graphpae {
namespace {

using test::expect_failure, test::Outcome, test::run, test::slurp, test::TempDir;
using test::holds;
using Json = nlohmann::json;

// Sixty people in a ring with chords, two groups, two columns of features.
void write_people(const TempDir& dir) {
  const Rng rng(3);
  std::string edges = "person,friend,weight\n", features = "id,height,age\n", labels = "id,group\n";
  const auto name = [](int64_t i) { return "p" + std::to_string(i % 60); };
  for (int64_t i = 0; i < 60; ++i) {
    edges += name(i) + "," + name(i + 1) + ",2\n" + name(i) + "," + name(i + 2 + i % 5) + ",0.5\n";
    const bool tall = i < 30;
    features += name(i) + "," + std::to_string((tall ? 3 : 1) + rng.uniform(2 * i)) + "," +
                std::to_string(rng.uniform(2 * i + 1)) + "\n";
    labels += name(i) + (tall ? ",tall\n" : ",short\n");
  }
  dir.write("e.csv", edges);
  dir.write("x.csv", features);
  dir.write("y.csv", labels);
}

constexpr const char* kData = "e.csv --columns person,friend,weight --features x.csv ";

TEST(OwnData, InfoSaysHowColumnsWereUnderstood) {
  const TempDir dir;
  write_people(dir);
  const Outcome text = run(dir, std::string("info ") + kData + "--labels y.csv");
  EXPECT_EQ(text.code, 0) << text.err;
  EXPECT_TRUE(holds(text.out, "e.csv: source person, target friend, weight weight")) << text.out;
  EXPECT_TRUE(holds(text.out, "x.csv: node id")) << text.out;
  const Json info = Json::parse(run(dir, std::string("info --json ") + kData + "--labels y.csv").out);
  EXPECT_EQ(info["columns"][0]["source"], "person");
  EXPECT_EQ(info["columns"][2]["label"], "group");
  EXPECT_EQ(info["weights"]["min"], 0.5);
  EXPECT_EQ(info["directed"], false);
  EXPECT_EQ(Json::parse(run(dir, std::string("info --json --directed ") + kData).out)["directed"], true);
}

TEST(OwnData, AQuestionIsOneLineThatShowsRows) {
  const TempDir dir;
  dir.write("q.csv", "who,age\nann,31\nbob,27\ncy,40\n");
  expect_failure(dir, "info q.csv", 3, "The first rows are [who | age] [ann | 31] [bob | 27]");
  expect_failure(dir, "info q.csv --columns who,d", 2, "has no column 'd'");
  EXPECT_EQ(run(dir, "info q.csv --columns who,age").code, 0);
}

TEST(OwnData, ColumnsAreMatchedByName) {
  const TempDir dir;
  write_people(dir);
  const Outcome trained = run(dir, std::string("pretrain ") + kData + test::kSmall + "--epochs 3 -o r -q");
  ASSERT_EQ(trained.code, 0) << trained.err;
  const auto embed = [&](const std::string& features, const std::string& out, const std::string& more = "") {
    return run(dir, "embed r e.csv --columns person,friend,weight --features " + features + " -o " + out + more);
  };
  ASSERT_EQ(embed("x.csv", "a.csv").code, 0);
  // Columns in another order, one more, rows turned round.
  std::string reversed = "age,shoe,id,height\n";
  const std::string table = slurp(dir / "x.csv");
  for (size_t at = table.find('\n') + 1; at < table.size();) {
    const size_t end = table.find('\n', at), first = table.find(',', at), second = table.find(',', first + 1);
    reversed += table.substr(second + 1, end - second - 1) + ",7," + table.substr(at, first - at) + "," +
                table.substr(first + 1, second - first - 1) + "\n";
    at = end + 1;
  }
  dir.write("z.csv", reversed);
  const Outcome again = embed("z.csv", "b.csv");
  ASSERT_EQ(again.code, 0) << again.err;
  EXPECT_TRUE(holds(again.err, "shoe")) << again.err;
  EXPECT_EQ(slurp(dir / "a.csv"), slurp(dir / "b.csv"));
  EXPECT_TRUE(slurp(dir / "a.csv").starts_with("node,e0,")) << slurp(dir / "a.csv").substr(0, 40);
  EXPECT_TRUE(holds(slurp(dir / "a.csv"), "\np17,"));
  dir.write("w.csv", "id,height\np0,1\n");
  std::string heights = "id,height\n";
  for (int i = 0; i < 60; ++i) heights += "p" + std::to_string(i) + ",1.5\n";
  dir.write("w.csv", heights);
  expect_failure(dir, "embed r e.csv --columns person,friend,weight --features w.csv -o c.csv", 3,
                 "feature column age");
  const Outcome filled = embed("w.csv", "c.csv", " --missing-columns zero");
  EXPECT_EQ(filled.code, 0) << filled.err;
  EXPECT_TRUE(holds(filled.err, "are zero: age")) << filled.err;
}

TEST(OwnData, FinetuneAndEvaluateDrawTheSameSplits) {
  const TempDir dir;
  write_people(dir);
  const std::string data = std::string(kData) + "--labels y.csv ";
  ASSERT_EQ(run(dir, "pretrain " + data + test::kSmall + "--epochs 2 -o r -q").code, 0);
  const Outcome tuned = run(dir, "finetune r " + data + "--epochs 2 --num-splits 2 --split-seed 5 -o t --json");
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  EXPECT_TRUE(holds(tuned.err, "the data have no splits: 2 random ones of 60/20/20")) << tuned.err;
  const Json trained = Json::parse(tuned.out);
  EXPECT_EQ(trained["splits"], 2);
  EXPECT_EQ(trained["split_source"], "random 60/20/20, stratified");
  EXPECT_EQ(trained["split_seed"], 5);
  const Json probed = Json::parse(
      run(dir, "evaluate r " + data + "--num-splits 2 --split-seed 5 --seeds 1 --baselines none --json").out);
  EXPECT_EQ(probed["split_source"], "random 60/20/20, stratified");
  EXPECT_EQ(probed["split_seed"], 5);
  // The splits that were kept are those that convert draws, too.
  ASSERT_EQ(run(dir, "convert " + data + "--split random:2x60/20/20 --split-seed 5 -o d -q").code, 0);
  EXPECT_EQ(slurp(dir / "t/splits.npz").size(), slurp(dir / "d/splits.npz").size());
  const auto hash = [&](const std::string& more) {
    return Json::parse(run(dir, "info --json " + more).out)["data_hash"].get<std::string>();
  };
  EXPECT_EQ(hash(data + "--splits t/splits.npz"), hash(data + "--splits d/splits.npz"));
  // As a table that names nodes.
  std::string table = "node,split\n";
  for (int i = 0; i < 60; ++i)
    table += "p" + std::to_string(i) + (i % 3 == 0 ? ",train\n" : i % 3 == 1 ? ",val\n" : ",test\n");
  dir.write("s.csv", table);
  const Json sizes = Json::parse(run(dir, "info --json " + data + "--splits s.csv").out);
  EXPECT_EQ(sizes["split_sizes"], Json::parse("[[20,20,20]]"));
  ASSERT_EQ(run(dir, "finetune r " + data + "--splits s.csv --epochs 2 -o u -q").code, 0);
  EXPECT_EQ(run(dir, "predict u e.csv --columns person,friend,weight --features x.csv -o p.csv").code, 0);
  EXPECT_TRUE(holds(slurp(dir / "p.csv"), "\np59,"));
}

TEST(OwnData, WeightsChangeEmbeddingsUnlessIgnored) {
  const TempDir dir;
  write_people(dir);
  std::string plain;
  for (const char* weights : {"use", "ignore"}) {
    const std::string run_name = std::string("r_") + weights;
    const Outcome trained = run(dir, std::string("pretrain ") + kData + test::kSmall + "--epochs 1 -q --weights " +
                                         weights + " -o " + run_name);
    ASSERT_EQ(trained.code, 0) << trained.err;
    ASSERT_EQ(run(dir, "embed " + run_name + " " + kData + "-o " + weights + ".csv").code, 0);
  }
  ASSERT_EQ(run(dir, "embed r_ignore e.csv --columns person,friend --features x.csv -o plain.csv").code, 0);
  EXPECT_EQ(slurp(dir / "ignore.csv"), slurp(dir / "plain.csv"));
  EXPECT_NE(slurp(dir / "use.csv"), slurp(dir / "plain.csv"));
  dir.write("n.csv", "src,dst,weight\n0,1,0.5\n1,2,-2\n2,3,1\n3,4,1\n4,0,2\n");
  dir.write("nx.csv", "a,b\n1,2\n3,4\n5,6\n7,8\n9,1\n");
  expect_failure(dir, std::string("pretrain n.csv --features nx.csv --epochs 1 --set eigenvectors=3 -q -o n"), 3,
                 "weights=ignore");
}

TEST(OwnData, PredictKeepsIdsAndARowPerRow) {
  const TempDir dir;
  std::string table = "compound_id,smiles,y\n";
  const char* const smiles[] = {"CCO", "CCC", "CCN", "c1ccccc1", "CC(=O)O", "CCCl", "CO", "CN", "CCCC", "CC=O"};
  for (int i = 0; i < 10; ++i)
    table += "m" + std::to_string(i) + "," + smiles[i] + "," + std::to_string(0.1 * i) + "\n";
  dir.write("m.csv", table);
  dir.write("n.csv", "compound_id,smiles\nq1,CCO\nq2,not a molecule\nq3,CCC\n");
  const Outcome tuned = run(dir,
                            "finetune none m.csv --recipe molecules --set width=16 --set layers=2 --set eigenvectors=3 "
                            "--epochs 1 --tasks y -o t -q");
  ASSERT_EQ(tuned.code, 0) << tuned.err;
  ASSERT_EQ(run(dir, "predict t n.csv -o p.csv").code, 0);
  const std::string rows = slurp(dir / "p.csv");
  EXPECT_TRUE(rows.starts_with("compound_id,smiles,y\nq1,CCO,")) << rows;
  EXPECT_TRUE(holds(rows, "\nq2,not a molecule,\nq3,CCC,")) << rows;
  ASSERT_EQ(run(dir, "embed t n.csv -o e.csv --on-invalid skip").code, 0);
  EXPECT_TRUE(holds(slurp(dir / "e.csv"), "\nq3,CCC,"));
  EXPECT_FALSE(holds(slurp(dir / "e.csv"), "q2"));
  expect_failure(dir, "predict t n.csv -o p.csv --id compound", 2, "did you mean 'compound_id'?");
}

}  // namespace
}  // namespace graphpae
