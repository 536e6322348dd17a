// Pre-training from outside: runs, what cannot work, kills and interrupts.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "graphpae/io/npy.h"
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
using test::run_and_signal;
using test::slurp;
using test::TempDir;

TEST(Cli, PretrainAndEmbed) {
  const TempDir dir;
  make_graph(dir);
  const Outcome trained = run(dir, std::string("pretrain g -o r --epochs 12 --seed 5 --json") + kSmall);
  ASSERT_EQ(trained.code, 0) << trained.err;
  const json result = json::parse(trained.out);
  EXPECT_EQ(result["epochs"], 12);
  EXPECT_TRUE(result["final_loss"].is_number());
  EXPECT_GT(result["seconds"], 0);
  EXPECT_GT(result["seconds_per_epoch"], 0);
  EXPECT_GT(result["peak_rss_bytes"], 1000000);
  for (const char* name : {"config.yaml", "environment.json", "metrics.jsonl", "results.json", "model/config.json",
                           "model/model.safetensors", "model/README.md", "checkpoints/epoch-00000012.safetensors"})
    EXPECT_TRUE(fs::exists(dir / ("r/" + std::string(name)))) << name;
  const std::string metrics = slurp(dir / "r/metrics.jsonl");
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 12);
  const json first = json::parse(metrics.substr(0, metrics.find('\n')));
  EXPECT_LT(result["final_loss"], first["loss"]);
  EXPECT_EQ(json::parse(slurp(dir / "r/environment.json"))["data_hash"].get<std::string>().size(), 64u);
  EXPECT_NE(slurp(dir / "r/config.yaml").find("seed: 5"), std::string::npos);

  ASSERT_EQ(run(dir, "embed r g -o e.npy").code, 0);
  const NpyArray rows = read_npy(dir / "e.npy");
  EXPECT_EQ(rows.shape, (std::vector<int64_t>{200, 32}));
  ASSERT_EQ(run(dir, "embed r/model g -o e.csv --threads 1").code, 0);
  const std::string table = slurp(dir / "e.csv");
  EXPECT_EQ(std::count(table.begin(), table.end(), '\n'), 201);
  ASSERT_EQ(run(dir, "embed r g -o e2.npy --threads 1").code, 0);
  EXPECT_EQ(slurp(dir / "e.npy"), slurp(dir / "e2.npy"));  // any number of threads

  // The plain operations give the same but for rounding.
  ASSERT_EQ(run(dir, "embed r g -o e3.npy --kernels reference").code, 0);
  const Buffer<float> fused = rows.to_float(), plain = read_npy(dir / "e3.npy").to_float();
  for (size_t k = 0; k < fused.size(); ++k) ASSERT_NEAR(fused[k], plain[k], 1e-4);
}

TEST(Cli, PretrainRefusesWhatCannotWork) {
  const TempDir dir;
  make_graph(dir);
  const std::string small = kSmall;
  expect_failure(dir, "pretrain g", 2, "-o RUN is required");
  expect_failure(dir, "pretrain g -o r --recipe chamelon", 2, "did you mean 'chameleon'?");
  expect_failure(dir, "pretrain g -o r --set epoch=3", 2, "did you mean 'epochs'?");
  expect_failure(dir, "pretrain g -o r --set heads=3", 2, "width 1024 is not a multiple of heads 3");
  expect_failure(dir, "pretrain g -o r --kernels fast", 2, "'fast' is not one of fused|reference");
  expect_failure(dir, "pretrain g -o r --precision mixed", 2, "only fp32 is offered");
  expect_failure(dir, "pretrain g -o r --mask-ratio 0.001", 2, "masks none of 200 nodes");
  expect_failure(dir, "pretrain g -o r --recipe molbace", 2, "encoder");
  dir.write("plain.csv", "src,dst\n0,1\n1,2\n");
  expect_failure(dir, "pretrain plain.csv -o r --set node_features=given", 3, "no node features");
  dir.write("file", "x");
  expect_failure(dir, "pretrain g -o file --epochs 1" + small, 2, "file: exists and is not a directory");
  expect_failure(dir, "embed nowhere g -o e.npy", 3, "neither a run directory nor a model directory");
  expect_failure(dir, "embed nowhere g -o e.pkl", 2, "expected .npy, .npz, .csv or .tsv");
  EXPECT_FALSE(fs::exists(dir / "r"));

  ASSERT_EQ(run(dir, "pretrain g -o r --epochs 2 -q" + small).code, 0);
  expect_failure(dir, "pretrain g -o r --epochs 2" + small, 2, "--resume goes on with it, --force starts anew");
  expect_failure(dir, "pretrain g -o r --resume --set lr=0.5", 2, "the run has lr=0.001, the command line says 0.5");
  ASSERT_EQ(run(dir, "generate heterophilic -o g2 --nodes 100 --edges 300 --features 41 -q").code, 0);
  expect_failure(dir, "embed r g2 -o e.npy", 3, "g2: the model was trained on 40 features per node, the data have 41");
  EXPECT_FALSE(fs::exists(dir / "e.npy"));
  expect_failure(dir, "pretrain g2 -o r --resume", 3, "belongs to other data");
  const std::string before = slurp(dir / "r/model/model.safetensors");
  ASSERT_EQ(run(dir, "pretrain g -o r --epochs 3 -q --force" + small).code, 0);
  EXPECT_NE(slurp(dir / "r/model/model.safetensors"), before);
}

TEST(Cli, DryRunWritesNothing) {
  const TempDir dir;
  make_graph(dir);
  const Outcome outcome = run(dir, std::string("pretrain g --dry-run -o r") + kSmall);
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("encoder.layer0.weight                [40, 32]"), std::string::npos) << outcome.out;
  EXPECT_FALSE(fs::exists(dir / "r"));
  const json estimate = json::parse(run(dir, std::string("pretrain g --dry-run --json") + kSmall).out);
  int64_t parameters = 0;
  for (const auto& [name, shape] : estimate["shapes"].items()) {
    if (name.find('.') == std::string::npos) continue;  // the data
    int64_t count = 1;
    for (const int64_t length : shape) count *= length;
    parameters += count;
  }
  EXPECT_EQ(estimate["parameters"], parameters);
}

// Killed at any moment and resumed, a run ends with the same bytes as one that was left alone.
TEST(Cli, KilledRunsResumeToTheSameBytes) {
  const TempDir dir;
  make_graph(dir);
  const std::string settings = std::string(kSmall) + " --epochs 400 --dropout 0.2 --checkpoint-every 7 -q ";
  ASSERT_EQ(run(dir, "pretrain g -o whole" + settings).code, 0);
  int kills = 0;
  for (int attempt = 0; attempt < 60; ++attempt) {
    // Moments spread over start, training and the writing of checkpoints; later ones on a busy machine.
    const double seconds = 0.5 + 0.17 * (attempt % 7) + 0.5 * (attempt / 7);
    const std::string launcher = "timeout -s KILL " + std::to_string(seconds);
    const Outcome outcome = run(dir, "pretrain g -o killed --resume" + settings, launcher);
    if (outcome.code == 0) break;
    ASSERT_EQ(outcome.code, 137) << outcome.err;
    ++kills;
  }
  EXPECT_GT(kills, 0);
  ASSERT_EQ(run(dir, "pretrain g -o killed --resume -q").code, 0);
  EXPECT_EQ(slurp(dir / "whole/model/model.safetensors"), slurp(dir / "killed/model/model.safetensors"));
  const auto losses = [&](const std::string& path) {
    std::string list;
    std::istringstream lines(slurp(path));
    for (std::string line; std::getline(lines, line);) list += json::parse(line)["loss"].dump() + "\n";
    return list;
  };
  EXPECT_EQ(losses(dir / "whole/metrics.jsonl"), losses(dir / "killed/metrics.jsonl"));
  for (const auto& entry : fs::recursive_directory_iterator(dir / "killed"))
    EXPECT_EQ(entry.path().string().find(".partial-"), std::string::npos) << entry.path();
}

TEST(Cli, InterruptWritesACheckpoint) {
  const TempDir dir;
  make_graph(dir);
  const std::string settings = std::string(kSmall) + " --epochs 100000 --checkpoint-every 1000000 --schedule constant ";
  const Outcome stopped = run_and_signal(dir, "pretrain g -o r" + settings, "INT", 3);
  EXPECT_EQ(stopped.code, 130);
  EXPECT_NE(stopped.err.find("--resume goes on from there"), std::string::npos) << stopped.err;
  int64_t checkpoints = 0;
  for (const auto& entry : fs::directory_iterator(dir / "r/checkpoints")) checkpoints += entry.is_regular_file();
  EXPECT_EQ(checkpoints, 1);
  const std::string metrics = slurp(dir / "r/metrics.jsonl");
  const int done = static_cast<int>(std::count(metrics.begin(), metrics.end(), '\n'));
  const Outcome again = run_and_signal(dir, "pretrain g -o r --resume" + settings, "TERM", done + 3);
  EXPECT_EQ(again.code, 130);
  EXPECT_NE(again.err.find("going on after epoch " + std::to_string(done)), std::string::npos) << again.err;
}

// A disk without room: the write fails, the error says so, the earlier checkpoint stays and serves.
TEST(Cli, FailedWritesLoseNothing) {
  const TempDir dir;
  make_graph(dir);
  const std::string settings = std::string(kSmall) + " --epochs 20 --checkpoint-every 10 --schedule constant -q ";
  ASSERT_EQ(run(dir, "pretrain g -o whole" + settings).code, 0);
  ASSERT_EQ(run(dir, "pretrain g -o r" + std::string(kSmall) + " --epochs 10 --schedule constant -q").code, 0);
  const std::string earlier = slurp(dir / "r/checkpoints/epoch-00000010.safetensors");
  dir.write("r/config.yaml", [&] {
    std::string text = slurp(dir / "r/config.yaml");
    return text.replace(text.find("epochs: 10"), 10, "epochs: 20");
  }());
  // The shell limits the size of files to 8 KB and asks for an error instead of a signal.
  const Outcome outcome = run(dir, "pretrain g -o r --resume -q", "trap '' XFSZ; ulimit -f 16; ");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_NE(outcome.err.find("File too large"), std::string::npos) << outcome.err;
  EXPECT_EQ(slurp(dir / "r/checkpoints/epoch-00000010.safetensors"), earlier);
  ASSERT_EQ(run(dir, "pretrain g -o r --resume -q").code, 0);
  EXPECT_EQ(slurp(dir / "whole/model/model.safetensors"), slurp(dir / "r/model/model.safetensors"));
}

}  // namespace
}  // namespace graphpae
