// The program from outside: exit codes, stdout, stderr, files.
#include <gtest/gtest.h>

#include <cstdio>
#include <nlohmann/json.hpp>

#include "graphpae/io/atomic_file.h"
#include "graphpae/io/npy.h"
#include "graphpae/io/zip_archive.h"
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
  EXPECT_NE(info.out.find("  columns      e.csv: source 1, target 2, left out 3, header no, ids names\n"),
            std::string::npos)
      << info.out;
  EXPECT_EQ(info.err, "note: e.csv: column 3 is left out; if it holds weights, say --columns 1,2,3\n");
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

}  // namespace
}  // namespace graphpae
