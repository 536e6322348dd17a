// Training on samples of a graph and embedding it in bounded memory, from outside.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "graphpae/io/npy.h"
#include "tests/cli/program.h"

namespace graphpae {
namespace {

using nlohmann::json;
using test::expect_failure;
using test::Outcome;
using test::run;
using test::run_and_signal;
using test::slurp;
using test::TempDir;

constexpr const char* kSampled =
    " --set width=32 --set layers=3 --set heads=4 --set eigenvectors=4 --set gaussians=8 --set batch_size=64"
    " --set fanout=6,4,3 --set row_normalize=no ";

void make_large_graph(const TempDir& dir) {
  ASSERT_EQ(run(dir, "generate heterophilic -o g --nodes 400 --edges 3000 --features 40 --words 6 -q").code, 0);
}

double largest_difference(const std::string& a, const std::string& b) {
  const Buffer<float> x = read_npy(a).to_float(), y = read_npy(b).to_float();
  EXPECT_EQ(x.size(), y.size());
  double largest = 0;
  for (size_t k = 0; k < x.size(); ++k) largest = std::max(largest, std::abs(double{x[k]} - double{y[k]}));
  return largest;
}

TEST(CliLargeGraph, TrainsOnSamplesAndEmbeds) {
  const TempDir dir;
  make_large_graph(dir);
  const Outcome dry = run(dir, std::string("pretrain g --dry-run --json") + kSampled);
  ASSERT_EQ(dry.code, 0) << dry.err;
  EXPECT_GT(json::parse(dry.out)["bytes"].get<double>(), 0);
  const Outcome trained = run(dir, std::string("pretrain g -o r --epochs 3 --json") + kSampled);
  ASSERT_EQ(trained.code, 0) << trained.err;
  const json results = json::parse(trained.out);
  EXPECT_EQ(results["epochs"], 3);
  EXPECT_NEAR(results["nodes_per_second"].get<double>(), 400 / results["seconds_per_epoch"].get<double>(), 1e-6);

  ASSERT_EQ(run(dir, "embed r g -o exact.npy").code, 0);
  ASSERT_EQ(run(dir, "embed r g -o sampled.npy --inference sampled").code, 0);
  ASSERT_EQ(run(dir, "embed r g -o again.npy --inference sampled --threads 1").code, 0);
  EXPECT_EQ(slurp(dir / "sampled.npy"), slurp(dir / "again.npy"));
  EXPECT_GT(largest_difference(dir / "exact.npy", dir / "sampled.npy"), 1e-3);
  ASSERT_EQ(run(dir, "embed r g -o table.csv --memory 40GB").code, 0);

  const Outcome scored = run(dir, "evaluate r g --protocol both --json --set probe.epochs=20 --seeds 1");
  ASSERT_EQ(scored.code, 0) << scored.err;
  EXPECT_TRUE(json::parse(scored.out).contains("paper")) << scored.out;
}

TEST(CliLargeGraph, StopsInsideAnEpochAndGoesOn) {
  const TempDir dir;
  make_large_graph(dir);
  const std::string settings = std::string(kSampled) + " --epochs 80 ";
  ASSERT_EQ(run(dir, "pretrain g -o whole -q" + settings).code, 0);
  const Outcome stopped = run_and_signal(dir, "pretrain g -o r" + settings, "INT", 1);
  ASSERT_EQ(stopped.code, 130) << stopped.err;
  const Outcome resumed = run(dir, "pretrain g -o r --resume");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(slurp(dir / "whole/model/model.safetensors"), slurp(dir / "r/model/model.safetensors"));
}

TEST(CliLargeGraph, RefusesWhatCannotWork) {
  const TempDir dir;
  make_large_graph(dir);
  expect_failure(dir, "pretrain g -o r --set batch_size=8 --set fanout=3,2,1", 2, "fanout has 3 numbers for 2 layers");
  expect_failure(dir, "pretrain g -o r --set batch_size=2 --set mask_ratio=0.4 --epochs 1", 2, "masks none of 2 nodes");
  ASSERT_EQ(run(dir, "pretrain g -o r -q --epochs 1 --set width=16 --set layers=2 --set eigenvectors=4").code, 0);
  expect_failure(dir, "embed r g -o e.npy --inference fast", 2, "'fast' is not one of exact|sampled");
  expect_failure(dir, "embed r g -o e.npy --inference sampled", 2, "trained on whole graphs");
  expect_failure(dir, "embed r g -o e.npy --memory 1MB", 5, "embedding needs at least");
  expect_failure(dir, "embed r g -o e.npy --memory lots", 2, "--memory");
  EXPECT_FALSE(std::filesystem::exists(dir / "e.npy"));
}

}  // namespace
}  // namespace graphpae
