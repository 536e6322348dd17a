// The program from outside: exit codes, stdout, stderr, files.
#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>

#include "graphpae/io/atomic_file.h"
#include "graphpae/io/npy.h"
#include "graphpae/io/zip_archive.h"
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

TEST(Cli, HelpAndVersion) {
  const TempDir dir;
  const Outcome help = run(dir, "--help");
  EXPECT_EQ(help.code, 0);
  for (const char* verb : {"demo", "generate", "info", "convert", "recipes", "positions", "pretrain", "embed",
                           "evaluate", "report", "spectrum", "reproduce"})
    EXPECT_NE(help.out.find(verb), std::string::npos) << verb;
  EXPECT_EQ(run(dir, "info --help").code, 0);
  EXPECT_EQ(run(dir, "--version").out.substr(0, 9), "graphpae ");
}

TEST(Cli, UsageErrors) {
  const TempDir dir;
  expect_failure(dir, "", 2, "subcommand");
  expect_failure(dir, "inof x", 2, "unknown verb 'inof' (did you mean 'info'?)");
  expect_failure(dir, "info", 2, "DATA is required");
  expect_failure(dir, "info x --no-such-flag", 2, "no-such-flag");
  expect_failure(dir, "pretrain x --widht 3 -o r", 2, "unknown flag --widht (did you mean '--width'?)");
  expect_failure(dir, "info x --ids nmaes", 2, "'nmaes' is not one of auto|numbers|names (did you mean 'names'?)");
  expect_failure(dir, "--threads 0 demo", 2, "threads");
  expect_failure(dir, "generate heterofilic -o d", 2, "did you mean 'heterophilic'?");
  expect_failure(dir, "generate heterophilic -o d --nodes 0", 2, "nodes: 0 is out of range");
  expect_failure(dir, "generate heterophilic -o d --set nodes", 2, "expected key=value");
  expect_failure(dir, "generate heterophilic -o d --set noddes=3", 2,
                 "unknown setting 'noddes' (did you mean 'nodes'?)");
  expect_failure(dir, "recipes chamelion", 2, "did you mean 'chameleon'?");
  expect_failure(dir, "demo --log-file .", 2, "--log-file .: cannot be written");
  EXPECT_FALSE(fs::exists(dir / "d"));
}

TEST(Cli, GenerateInfoConvert) {
  const TempDir dir;
  dir.write("c.yaml", "nodes: 200\nedges: 900\n");
  const Outcome made = run(dir, "generate heterophilic -o g --config c.yaml --set edges=1000 --nodes 300 --json");
  ASSERT_EQ(made.code, 0) << made.err;
  const json first = json::parse(made.out);
  EXPECT_EQ(first["nodes"], 300);      // flag over config
  EXPECT_GT(first["edge_rows"], 900);  // --set over config

  const Outcome info = run(dir, "info g --json");
  ASSERT_EQ(info.code, 0) << info.err;
  json second = json::parse(info.out);
  for (const char* key : {"nodes", "edges", "self_loops", "features", "feature_nonzeros", "classes", "unlabelled",
                          "splits", "components", "isolated", "edge_homophily"}) {
    EXPECT_TRUE(second.contains(key)) << key;
  }
  EXPECT_EQ(second["content_sha256"], first["content_sha256"]);
  EXPECT_EQ(second["splits"], 10);

  ASSERT_EQ(run(dir, "convert g -o h -q").code, 0);
  EXPECT_EQ(json::parse(run(dir, "info h --json").out)["content_sha256"], first["content_sha256"]);
  expect_failure(dir, "convert g -o h", 2, "--force");
  EXPECT_EQ(run(dir, "convert g -o h --force").code, 0);
  EXPECT_EQ(run(dir, "generate structure -o h --force --nodes 50 --edges 100").code,
            0);  // the features of g do not linger
  EXPECT_EQ(json::parse(run(dir, "info h --json").out)["features"], 0);
  EXPECT_EQ(run(dir, "--threads 1 info g --json").out, run(dir, "info g --json --threads 7").out);
}

TEST(Cli, InfoReadsAsText) {
  const TempDir dir;
  dir.write("e.csv", "alice,bob,3\nbob,carol,4\n");
  const Outcome info = run(dir, "info e.csv");
  EXPECT_EQ(info.code, 0);
  EXPECT_NE(info.out.find("e.csv (edge list)\n  nodes        3\n  edges        2 undirected"), std::string::npos)
      << info.out;
  EXPECT_EQ(info.err, "note: e.csv: columns after the second are ignored (3 columns)\n");
  EXPECT_EQ(run(dir, "-q info e.csv").err, "");
  run(dir, "info e.csv --log-file log.txt");
  EXPECT_EQ(slurp(dir / "log.txt"), info.err);
}

TEST(Cli, Recipes) {
  const TempDir dir;
  EXPECT_NE(run(dir, "recipes").out.find("chameleon"), std::string::npos);
  const Outcome one = run(dir, "recipes chameleon");
  EXPECT_TRUE(one.out.starts_with("# Chameleon"));
  EXPECT_EQ(json::parse(run(dir, "recipes squirrel --json").out)["settings"]["mask_ratio"], "0.5");
  EXPECT_GE(json::parse(run(dir, "recipes --json").out).size(), 14u);
}

TEST(Cli, Demo) {
  const TempDir dir;
  const Outcome demo = run(dir, "demo");
  EXPECT_EQ(demo.code, 0);
  EXPECT_NE(demo.out.find("homophily"), std::string::npos);
  EXPECT_NE(demo.out.find("untrained encoder"), std::string::npos);
  // The story it tells: training helps.
  const json result = json::parse(slurp(dir / "graphpae-demo/results.json"))["evaluation"];
  EXPECT_EQ(result["protocol"], "strict");
  for (const char* name : {"raw_features", "raw_positions", "untrained"})
    EXPECT_GT(result["mean"], result["baselines"][name]["mean"].get<double>() + 0.2) << name;
}

TEST(Cli, Positions) {
  const TempDir dir;
  ASSERT_EQ(run(dir, "generate structure -o g --nodes 1500 --edges 9000 --isolated 2 -q").code, 0);
  const Outcome outcome = run(dir, "positions g -k 20 -o p.npz --json");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const json result = json::parse(outcome.out);
  for (const char* key : {"nodes", "k", "converged", "max_residual", "solver", "seconds", "peak_rss_bytes"}) {
    EXPECT_TRUE(result.contains(key)) << key;
  }
  EXPECT_EQ(result["nodes"], 1502);
  EXPECT_EQ(result["converged"], 20);
  EXPECT_LE(result["max_residual"], 1e-5);
  const NpzFile file(dir / "p.npz");
  EXPECT_EQ(file.read("eigenvalues").shape, (std::vector<int64_t>{20}));
  EXPECT_EQ(file.read("eigenvectors").shape, (std::vector<int64_t>{1502, 20}));
  EXPECT_EQ(file.read("residuals").shape, (std::vector<int64_t>{20}));
  EXPECT_EQ(file.read("eigenvalues").to_double()[0], 0.0);

  // The same bits with other threads, and from the cache.
  ASSERT_EQ(run(dir, "positions g -k 20 -o q.npz --threads 1 -q").code, 0);
  EXPECT_EQ(slurp(dir / "p.npz"), slurp(dir / "q.npz"));
  const std::string cache = "env GRAPHPAE_CACHE='" + (dir / "cache") + "'";
  EXPECT_EQ(json::parse(run(dir, "positions g -k 20 -o c.npz --json", cache).out)["cached"], false);
  EXPECT_EQ(json::parse(run(dir, "positions g -k 20 -o c.npz --json", cache).out)["cached"], true);
  EXPECT_EQ(slurp(dir / "p.npz"), slurp(dir / "c.npz"));
  EXPECT_EQ(json::parse(run(dir, "positions g -k 21 -o c.npz --json", cache).out)["cached"], false);
  EXPECT_EQ(json::parse(run(dir, "positions g -k 20 -o c.npz --json --no-cache", cache).out)["cached"], false);

  expect_failure(dir, "positions g -k 0 -o p.npz", 2, "k: 0 is out of range");
  expect_failure(dir, "positions g -o p.txt", 2, "written as .npz");
  expect_failure(dir, "positions g -o no/p.npz", 3, "its directory does not exist");
  expect_failure(dir, "positions p.npz -o p.npz", 2, "-o p.npz: is the file that is read, and would be replaced");
}

TEST(Cli, PositionsThatAreNotCertainEndWithCode4) {
  const TempDir dir;
  std::string path = "src,dst\n";
  for (int i = 0; i < 19999; ++i) path += std::to_string(i) + "," + std::to_string(i + 1) + "\n";
  dir.write("path.csv", path);
  // Products in float32 cannot tell these eigenvalues apart, and say so.
  const Outcome block = run(dir, "positions path.csv -k 20 -o p.npz --solver block");
  EXPECT_EQ(block.code, 4);
  EXPECT_NE(block.err.find("graphpae: error: p.npz: not all eigenvectors are certain"), std::string::npos) << block.err;
  EXPECT_TRUE(fs::exists(dir / "p.npz"));
  EXPECT_EQ(run(dir, "positions path.csv -k 20 -o p.npz").code, 0);
}

TEST(Cli, PositionsThatDoNotFitAreRefusedWithAnEstimate) {
  const TempDir dir;
  ASSERT_EQ(run(dir, "generate structure -o g --nodes 100000 --edges 200000 -q").code, 0);
  expect_failure(dir, "positions g -k 1000000 -o p.npz", 5, "positions need about");
  EXPECT_FALSE(fs::exists(dir / "p.npz"));
}

TEST(Cli, OfflineAndUnknownNames) {
  const TempDir dir;
  expect_failure(dir, "info chameleon --offline", 3, "--offline forbids the download");
  expect_failure(dir, "info penn94", 3, "--trust-download");
  expect_failure(dir, "info chamelion --offline", 3, "did you mean 'chameleon'?");
}

// Each kind of bad input: exit code 3 and one line that names the file and the line or array.
TEST(Cli, BadInput) {
  const TempDir dir;
  const auto npz = [&](const std::string& name, const std::vector<ZipEntry>& entries) {
    fs::create_directories(fs::path(dir / name).parent_path());
    write_zip(dir / name, entries);
  };
  const std::vector<float> features = {1, 2, NAN, 4};
  const std::vector<int64_t> labels = {0};
  const std::vector<int32_t> ids = {0};

  dir.write("trunc.csv.gz", gzip_bytes("0,1\n1,2\n").substr(0, 15));
  expect_failure(dir, "info trunc.csv.gz", 3, "trunc.csv.gz: the gzip data end too early");
  dir.write("columns.csv", "0,1\n1,2,3\n");
  expect_failure(dir, "info columns.csv", 3, "columns.csv:2: 3 columns, expected 2");
  dir.write("negative.csv", "0,1\n-1,2\n");
  expect_failure(dir, "info negative.csv", 3, "negative.csv:2: node number -1 is below 0");
  dir.write("large.csv", "0,1\n1,3000000000\n");
  expect_failure(dir, "info large.csv", 3, "large.csv:2: node number 3000000000 is above");
  dir.write("nan/edges.csv", "src,dst\n0,1\n");
  npz("nan/features.npz", {{"features.npy", npy_bytes<float>(features, {2, 2})}});
  expect_failure(dir, "info nan", 3, "nan/features.npz: row 1, column 0: the value nan is not finite");
  dir.write("short/edges.csv", "src,dst\n0,1\n");
  dir.write("short/labels.npy", npy_bytes<int64_t>(labels, {1}));
  expect_failure(dir, "info short", 3, "short/edges.csv:2: node 1 is outside 0..0");
  npz("short/features.npz", {{"features.npy", npy_bytes<float>(std::vector<float>{1, 2}, {2, 1})}});
  expect_failure(dir, "info short", 3, "short/labels.npy: 1 labels for 2 nodes");
  dir.write("overlap/edges.csv", "src,dst\n0,1\n");
  npz("overlap/splits.npz", {{"train_0.npy", npy_bytes<int32_t>(ids, {1})},
                             {"val_0.npy", npy_bytes<int32_t>(ids, {1})},
                             {"test_0.npy", npy_bytes<int32_t>(ids, {1})}});
  expect_failure(dir, "info overlap", 3, "overlap/splits.npz: split 0: id 0 is in both train and val");
  std::string pickle = npy_bytes<int64_t>(labels, {1});
  pickle.replace(pickle.find("'<i8'"), 5, "'|O' ");
  npz("pickle.npz", {{"edges.npy", pickle}});
  expect_failure(dir, "info pickle.npz", 3,
                 "pickle.npz: array 'edges': not a readable NumPy array: it holds Python objects (a pickle)");
  std::string bomb = npy_bytes<int64_t>(labels, {1});
  bomb.replace(bomb.find("(1,), }"), 17, "(99999999999,), }");
  npz("bomb.npz", {{"edges.npy", bomb}});
  expect_failure(dir, "info bomb.npz", 3, "bomb.npz: array 'edges'");
  fs::create_directory(dir / "noedges");
  expect_failure(dir, "info noedges", 3, "noedges: no edges.csv");
  dir.write("empty.csv", "");
  expect_failure(dir, "info empty.csv", 3, "empty.csv: the file is empty");
  dir.write("empty/edges.csv", "src,dst\n");
  expect_failure(dir, "info empty", 3, "empty/edges.csv: the graph is empty");
  expect_failure(dir, "info nothing.csv", 3, "nothing.csv: no such file");
  expect_failure(dir, "convert columns.csv -o out", 3, "columns.csv:2");
  EXPECT_FALSE(fs::exists(dir / "out"));
}

TEST(Cli, AnInterruptLeavesNothingBehind) {
  const TempDir dir;
  // Large enough to be still at work, mostly writing, when the signal comes.
  const Outcome outcome =
      run(dir, "generate structure -o out --nodes 2000000 --edges 20000000", "timeout --preserve-status -s INT 0.7");
  EXPECT_EQ(outcome.code, 130);
  EXPECT_FALSE(fs::exists(dir / "out"));
  for (const auto& entry : fs::directory_iterator(dir.path()))
    EXPECT_EQ(entry.path().string().find("partial"), std::string::npos);
}

TEST(Cli, AnOutputThatCannotBeWrittenIsReported) {
  const TempDir dir;
  dir.write("file", "x");
  expect_failure(dir, "generate structure -o file/below", 3, "file/below");
}

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
  expect_failure(dir, "pretrain plain.csv -o r", 3, "no node features");
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
  const std::string settings = std::string(kSmall) + " --epochs 100000 --checkpoint-every 1000000 --schedule none ";
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
  const std::string settings = std::string(kSmall) + " --epochs 20 --checkpoint-every 10 --schedule none -q ";
  ASSERT_EQ(run(dir, "pretrain g -o whole" + settings).code, 0);
  ASSERT_EQ(run(dir, "pretrain g -o r" + std::string(kSmall) + " --epochs 10 --schedule none -q").code, 0);
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
