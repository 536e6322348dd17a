// People's own graphs: without features, with columns of any scale, words and holes, and what training says about them.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "graphpae/core/rng.h"
#include "graphpae/io/npy.h"
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

const std::string kQuick = " --set width=32 --set eigenvectors=6 --set gaussians=16 --set structure.neighbours=24 -q ";

// Two groups of 40 nodes whose members mostly know each other; label: the group.
void write_groups(const TempDir& dir) {
  const Rng rng(5);
  std::string edges = "src,dst\n", labels = "node,label\n";
  for (int i = 0; i < 80; ++i) {
    labels += fmt::format("{},{}\n", i, i < 40 ? "left" : "right");
    for (int j = 0; j < i; ++j) {
      const bool same = (i < 40) == (j < 40);
      if (rng.uniform(static_cast<uint64_t>(i * 80 + j)) < (same ? 0.2 : 0.02)) edges += fmt::format("{},{}\n", j, i);
    }
  }
  dir.write("edges.csv", edges);
  dir.write("labels.csv", labels);
}

TEST(OwnFeatures, AGraphWithoutFeaturesTrains) {
  const TempDir dir;
  write_groups(dir);
  const Outcome trained = run(dir, "pretrain edges.csv --labels labels.csv -o r --evaluate --json --epochs 30" +
                                       std::string(" --set width=32 --set structure.neighbours=24"));
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_NE(trained.err.find("no node features: features are made from the edges"), std::string::npos) << trained.err;
  EXPECT_NE(trained.err.find("without --recipe: width 32, 2 layers, 30 epochs"), std::string::npos) << trained.err;
  const json result = json::parse(trained.out);
  EXPECT_GT(result["evaluation"]["mean"], 0.8);
  EXPECT_GT(result["checks"]["effective_rank"], 1);
  EXPECT_NE(slurp(dir / "r/config.yaml").find("node_features: structure"), std::string::npos);

  // The model knows how its features were made.
  ASSERT_EQ(run(dir, "embed r edges.csv -o a.npy").code, 0);
  ASSERT_EQ(run(dir, "embed r/model edges.csv -o b.npy --threads 1").code, 0);
  EXPECT_EQ(slurp(dir / "a.npy"), slurp(dir / "b.npy"));
  EXPECT_EQ(read_npy(dir / "a.npy").shape, (std::vector<int64_t>{80, 32}));
  ASSERT_EQ(run(dir, "pretrain edges.csv --labels labels.csv -o r --resume --set node_features=auto -q").code, 0);
  dir.write("other.csv", "src,dst\n0,1\n1,2\n2,3\n");
  const Outcome other = run(dir, "embed r other.csv -o c.npy");
  EXPECT_EQ(other.code, 0) << other.err;
  EXPECT_NE(other.err.find("rows of this other graph mean something else"), std::string::npos) << other.err;
  expect_failure(dir, "pretrain edges.csv -o r2 --set node_features=given", 3,
                 "no node features; --features names a file of them, and node_features=structure");
  EXPECT_FALSE(fs::exists(dir / "r2"));
  // A recipe is no obstacle.
  ASSERT_EQ(run(dir, "pretrain edges.csv -o r3 --recipe reed98 --epochs 1 --set heads=4" + kQuick).code, 0);
  // Methods without positions learn from it, too.
  const Outcome mae = run(dir, "pretrain edges.csv -o r4 --method graphmae --epochs 2" + kQuick);
  EXPECT_EQ(mae.code, 0) << mae.err;
}

// Columns of scale 1, 1000 and 0.001: the two small ones tell the class, the large one is noise.
TEST(OwnFeatures, ColumnsOfDifferentScales) {
  const TempDir dir;
  write_groups(dir);
  const Rng rng(9);
  std::string features = "id,a,big,tiny,year\n";
  for (uint64_t i = 0; i < 80; ++i) {
    const double side = i < 40 ? 1.5 : -1.5;
    features += fmt::format("{},{},{},{},2024\n", i, side + rng.normal(4 * i), 1000 * rng.normal(4 * i + 1),
                            0.001 * (side + rng.normal(4 * i + 2)));
  }
  dir.write("features.csv", features);
  const std::string data = "edges.csv --features features.csv --labels labels.csv ";
  const Outcome scaled = run(dir, "pretrain " + data + "-o r --evaluate --json --epochs 40 --set width=32");
  ASSERT_EQ(scaled.code, 0) << scaled.err;
  EXPECT_NE(scaled.err.find("scale=none leaves them"), std::string::npos) << scaled.err;
  EXPECT_NE(scaled.err.find("1 of 4 feature columns are the same for all nodes and left out: year"), std::string::npos)
      << scaled.err;
  const json result = json::parse(scaled.out)["evaluation"];
  EXPECT_GT(result["mean"], 0.85);
  EXPECT_GT(result["baselines"]["raw_features"]["mean"], 0.85);
  const std::string config = slurp(dir / "r/config.yaml");
  EXPECT_NE(config.find("scale: standard"), std::string::npos);
  const json model = json::parse(slurp(dir / "r/model/config.json"));
  EXPECT_EQ(model["features"], 3);
  EXPECT_EQ(model["inputs"]["dropped"], json::array({3}));
  EXPECT_GT(model["inputs"]["factor"][2], 100);
  // Embedding scales as training did: half of the nodes, of another mean, are not scaled anew.
  ASSERT_EQ(run(dir, "embed r " + data + "-o all.npy").code, 0);
  ASSERT_EQ(run(dir, "evaluate r " + data + "-q").code, 0);

  // Recipes and files of settings mean what they meant.
  ASSERT_EQ(run(dir, "pretrain " + data + "-o r2 --recipe reed98 --epochs 1 --set heads=4" + kQuick).code, 0);
  const std::string published = slurp(dir / "r2/config.yaml");
  EXPECT_NE(published.find("scale: none"), std::string::npos);
  EXPECT_NE(published.find("drop_constant: false"), std::string::npos) << published;
  EXPECT_EQ(json::parse(slurp(dir / "r2/model/config.json")).count("inputs"), 0u);
}

TEST(OwnFeatures, FeaturesThatSayNothing) {
  const TempDir dir;
  write_groups(dir);
  std::string zeros;
  for (int i = 0; i < 80; ++i) zeros += "0,3\n";
  dir.write("zeros.csv", zeros);
  const Outcome outcome = run(dir, "pretrain edges.csv --features zeros.csv -o r --epochs 2 --set width=32");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("all nodes have the same features, which say nothing"), std::string::npos) << outcome.err;
}

// What training has not learnt is said: on stderr, in results.json and on the page.
TEST(OwnFeatures, TrainingSaysWhatItDidNotLearn) {
  const TempDir dir;
  write_groups(dir);
  std::string features;  // the label itself
  for (int i = 0; i < 80; ++i) features += fmt::format("{},{}\n", i < 40 ? 1 : 0, i < 40 ? 0 : 1);
  dir.write("features.csv", features);
  const Outcome outcome =
      run(dir,
          "pretrain edges.csv --features features.csv --labels labels.csv -o r --evaluate --epochs 1 "
          "--set width=8 --set heads=1 --set lr=0");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("check: the embeddings are no better than the raw features ("), std::string::npos)
      << outcome.err;
  EXPECT_NE(outcome.err.find("check: the embeddings are no better than those of the untrained encoder"),
            std::string::npos)
      << outcome.err;
  const json checks = json::parse(slurp(dir / "r/results.json"))["checks"];
  ASSERT_GE(checks["findings"].size(), 2u);
  EXPECT_NE(slurp(dir / "r/report.html").find("no better than the raw features"), std::string::npos);
}

// Twenty triangles have twenty eigenvalues 0.
TEST(OwnFeatures, EigenvectorsThatOnlyTellComponents) {
  const TempDir dir;
  std::string edges = "src,dst\n";
  for (int i = 0; i < 60; i += 3) edges += fmt::format("{},{}\n{},{}\n{},{}\n", i, i + 1, i + 1, i + 2, i + 2, i);
  dir.write("edges.csv", edges);
  const std::string some =
      "pretrain edges.csv --epochs 1 --set width=8 --set eigenvectors=10 --set structure.positions=4 ";
  const Outcome all = run(dir, some + "--set skip_zero_eigenvalues=no -o r");
  ASSERT_EQ(all.code, 0) << all.err;
  EXPECT_NE(all.err.find("the 10 eigenvectors only say which of 20 components a node is in"), std::string::npos)
      << all.err;
  EXPECT_NE(all.err.find("skip_zero_eigenvalues=yes takes the next ones"), std::string::npos);
  const Outcome chosen = run(dir, some + "-o r2");
  ASSERT_EQ(chosen.code, 0) << chosen.err;
  EXPECT_EQ(chosen.err.find("components a node is in"), std::string::npos) << chosen.err;
  EXPECT_NE(chosen.err.find("10 eigenvectors without those of eigenvalue 0 (skip_zero_eigenvalues)"),
            std::string::npos);
}

TEST(OwnFeatures, DryRunSaysTheLoad) {
  const TempDir dir;
  write_groups(dir);
  const Outcome text = run(dir, "pretrain edges.csv --dry-run --set width=32");
  ASSERT_EQ(text.code, 0) << text.err;
  EXPECT_NE(text.out.find("measured with load "), std::string::npos) << text.out;
  const json estimate = json::parse(run(dir, "pretrain edges.csv --dry-run --json --set width=32").out);
  EXPECT_TRUE(estimate["load"].is_number());
  EXPECT_GE(estimate["processors"], 1);
  EXPECT_EQ(estimate["shapes"]["features X"], json::array({80, 298}));
}

}  // namespace
}  // namespace graphpae
