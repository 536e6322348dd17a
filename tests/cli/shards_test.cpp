// convert --to shards and pretrain from shards, from outside.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "graphpae/io/npy.h"
#include "tests/cli/metrics.h"
#include "tests/cli/program.h"

namespace graphpae {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;
using test::expect_failure;
using test::losses;
using test::Outcome;
using test::run;
using test::run_and_signal;
using test::slurp;
using test::TempDir;

constexpr const char* kSmallShards = " --set width=16 --set eigenvectors=4 --set gaussians=8 --set mask_ratio=0.4 ";
constexpr const char* kConvert =
    "convert m.csv -o s --to shards --featurizer transfer --set eigenvectors=4 --shard-size 30 -q";

void write_table(const TempDir& dir, int count) {
  std::string text = "smiles,y\n";
  for (int k = 0; k < count; ++k)
    text += std::string(1 + k % 5, 'C') + (k % 3 == 0 ? "N" : "Oc1ccccc1") + std::string(1 + k % 7, 'C') + ",1\n";
  dir.write("m.csv", text);
}

TEST(CliShards, ConvertInfoPretrainEmbed) {
  const TempDir dir;
  write_table(dir, 100);
  const Outcome converted = run(dir, std::string(kConvert) + " --json");
  ASSERT_EQ(converted.code, 0) << converted.err;
  const json made = json::parse(converted.out);
  EXPECT_EQ(made["molecules"], 100);
  EXPECT_EQ(made["shards"], 4);
  EXPECT_EQ(made["invalid"], 0);
  EXPECT_GT(made["peak_rss_bytes"].get<int64_t>(), 0);
  expect_failure(dir, kConvert, 2, "s: exists and is not empty");

  const json info = json::parse(run(dir, "info s --json").out);
  const json in_memory = json::parse(run(dir, "info m.csv --json --featurizer transfer").out);
  for (const char* key : {"molecules", "atoms", "bonds", "max_atoms", "mean_atoms", "mean_bonds"})
    EXPECT_EQ(info[key], in_memory[key]) << key;
  EXPECT_EQ(info["form"], "shards");
  EXPECT_EQ(info["content_sha256"], made["content_sha256"]);
  EXPECT_EQ(info["position_settings"]["eigenvectors"], "4");
  EXPECT_NE(run(dir, "info s").out.find("100 in 4 shards"), std::string::npos);

  const Outcome dry = run(dir, std::string("pretrain s --dry-run --json --set batch_size=8") + kSmallShards);
  ASSERT_EQ(dry.code, 0) << dry.err;
  EXPECT_EQ(json::parse(dry.out)["shapes"]["steps of an epoch"], json({13}));
  const Outcome trained = run(dir, std::string("pretrain s -o r --epochs 2 --json --set batch_size=8") + kSmallShards);
  ASSERT_EQ(trained.code, 0) << trained.err;
  EXPECT_EQ(json::parse(trained.out)["epochs"], 2);
  EXPECT_GT(json::parse(trained.out)["molecules_per_second"].get<double>(), 0);
  EXPECT_EQ(json::parse(slurp(dir / "r/environment.json"))["data_hash"], made["content_sha256"]);

  ASSERT_EQ(run(dir, "embed r m.csv -o e.npy --featurizer transfer").code, 0);
  EXPECT_EQ(read_npy(dir / "e.npy").shape, (std::vector<int64_t>{100, 16}));
}

TEST(CliShards, RefusesWhatCannotWork) {
  const TempDir dir;
  write_table(dir, 40);
  test::make_graph(dir);
  expect_failure(dir, "convert m.csv -o s --to shard -q", 2, "--to");
  expect_failure(dir, "convert m.csv -o s --set eigenvectors=4 -q", 2, "need --to shards");
  expect_failure(dir, "convert m.csv -o s --to shards --split scaffold -q", 2, "shards hold no labels");
  expect_failure(dir, "convert m.csv -o s --to shards --on-invalid nan -q", 2, "take skip or fail");
  expect_failure(dir, "convert m.csv -o s --to shards --recipe chameleon -q", 2, "molecules need encoder=gated_gcn");
  expect_failure(dir, "convert g -o s --to shards -q", 2, "g is one graph");
  dir.write("bad.csv", "smiles\nCC\nnot\n");
  expect_failure(dir, "convert bad.csv -o s --to shards --on-invalid fail -q", 3, "bad.csv:3: 'not' is not a valid");
  EXPECT_FALSE(fs::exists(dir / "s"));
  ASSERT_EQ(run(dir, kConvert).code, 0);
  const std::string small = kSmallShards;
  expect_failure(dir, "pretrain s -o r -q --recipe zinc", 2,
                 "s: the positions of the shards were made with eigenvectors=4, the settings say 6");
  expect_failure(dir, "pretrain s -o r -q --evaluate" + small, 2, "--evaluate needs labels, and shards hold none");
  EXPECT_FALSE(fs::exists(dir / "r"));
  ASSERT_EQ(run(dir, "pretrain m.csv -o r -q --epochs 1 --featurizer transfer" + small).code, 0);
  for (const char* verb : {"embed r s -o e.npy", "evaluate r s", "finetune r s -o f", "positions s -o p.npz"})
    expect_failure(dir, std::string(verb) + " -q", 3, "s: holds shards, which only `graphpae pretrain`");
  std::string bytes = slurp(dir / "s/shard-00001.bin");
  bytes[bytes.size() - 100] = static_cast<char>(bytes[bytes.size() - 100] ^ 16);
  dir.write("s/shard-00001.bin", bytes);
  expect_failure(dir, "pretrain s -o b -q --epochs 1" + small, 3,
                 "s/shard-00001.bin: checksum differs: the file is damaged");
  EXPECT_FALSE(fs::exists(dir / "b"));
}

// The graphs of a directory are taken as they are.
TEST(CliShards, FromADirectory) {
  const TempDir dir;
  write_table(dir, 40);
  ASSERT_EQ(run(dir, kConvert).code, 0);
  ASSERT_EQ(run(dir, "convert m.csv -o d --featurizer transfer -q").code, 0);
  ASSERT_EQ(run(dir, "convert d -o t --to shards --set eigenvectors=4 --shard-size 30 -q").code, 0);
  EXPECT_EQ(slurp(dir / "s/shards.json"), slurp(dir / "t/shards.json"));
}

// Interrupted or killed, a conversion leaves no shards behind that could be taken for whole.
TEST(CliShards, InterruptedConversion) {
  const TempDir dir;
  write_table(dir, 60000);
  const Outcome stopped = run(dir, kConvert, "timeout -s INT 0.5");
  ASSERT_NE(stopped.code, 0);
  EXPECT_FALSE(fs::exists(dir / "s"));
  for (const auto& entry : fs::directory_iterator(dir.path()))
    EXPECT_EQ(entry.path().string().find(".partial-"), std::string::npos) << entry.path();
  run(dir, kConvert, "timeout -s KILL 0.5");
  EXPECT_FALSE(fs::exists(dir / "s"));
}

TEST(CliShards, InterruptedInsideAnEpoch) {
  const TempDir dir;
  write_table(dir, 150);
  ASSERT_EQ(run(dir, kConvert).code, 0);
  const std::string settings = std::string(kSmallShards) + " --set batch_size=1 --epochs 3 ";
  ASSERT_EQ(run(dir, "pretrain s -o whole -q" + settings).code, 0);
  const Outcome stopped = run_and_signal(dir, "pretrain s -o r" + settings, "INT", 1);
  ASSERT_EQ(stopped.code, 130) << stopped.err;
  EXPECT_NE(stopped.err.find(", step "), std::string::npos) << stopped.err;
  const Outcome resumed = run(dir, "pretrain s -o r --resume --threads 1");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(slurp(dir / "whole/model/model.safetensors"), slurp(dir / "r/model/model.safetensors"));
  EXPECT_EQ(losses(dir / "whole/metrics.jsonl"), losses(dir / "r/metrics.jsonl"));
}

}  // namespace
}  // namespace graphpae
