// Several processes from outside: launched by the program, or as launchers start them.
#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "graphpae/io/safetensors.h"
#include "tests/cli/program.h"

namespace graphpae {
namespace {

using nlohmann::json;
using test::expect_failure;
using test::Outcome;
using test::run;
using test::slurp;
using test::TempDir;

constexpr const char* kSamples =
    " --set width=16 --set heads=4 --set layers=2 --set eigenvectors=4 --set gaussians=8 --set batch_size=20"
    " --set row_normalize=no --set dropout=0 --set edge_dropout=0 --set replace_ratio=0 --set optimizer=sgd"
    " --set lr=0.01 ";
constexpr const char* kMolecules =
    " --recipe molesol --set width=16 --set layers=2 --set gaussians=8 --set batch_size=6 --set dropout=0"
    " --set edge_dropout=0 --set optimizer=sgd --set lr=0.01 ";

void write_chains(const TempDir& dir) {
  std::string text = "smiles\n";
  for (const char* middle : {"", "C", "CC", "C(=O)", "C(O)", "OC", "c1ccccc1", "C(Cl)", "N", "C#C"}) {
    for (const char* end : {"O", "N", "C(=O)O"}) text += std::string("C") + middle + end + "\n";
  }
  dir.write("m.csv", text);
}

// The largest difference of two models, relative to the largest element.
double largest_weight_difference(const std::string& a, const std::string& b) {
  const SafeTensors x(a), y(b);
  EXPECT_EQ(x.data().size(), y.data().size());
  double largest = 0;
  for (size_t k = 0; k + 4 <= std::min(x.data().size(), y.data().size()); k += 4) {
    float u = 0, v = 0;
    std::memcpy(&u, x.data().data() + k, 4);
    std::memcpy(&v, y.data().data() + k, 4);
    largest = std::max(largest, std::abs(double{u} - double{v}));
  }
  return largest;
}

TEST(CliLaunch, WhatCannotBeDividedLeavesNothing) {
  const TempDir dir;
  test::make_graph(dir);
  const Outcome outcome = run(dir, std::string("launch -n 2 -- pretrain g --epochs 1 -o r -q") + test::kSmall);
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.err.find("needs batch_size"), std::string::npos) << outcome.err;
  EXPECT_FALSE(std::filesystem::exists(dir / "r"));
}

TEST(CliLaunch, TwoProcessesLearnWhatOneLearns) {
  const TempDir dir;
  write_chains(dir);
  const std::string arguments = std::string("pretrain m.csv --epochs 3 --json") + kMolecules;
  const Outcome alone = run(dir, arguments + "-o alone");
  ASSERT_EQ(alone.code, 0) << alone.err;
  const Outcome together = run(dir, "launch -n 2 -- " + arguments + "-o together");
  ASSERT_EQ(together.code, 0) << together.err;
  const double expected = json::parse(alone.out)["final_loss"], found = json::parse(together.out)["final_loss"];
  EXPECT_NEAR(found, expected, 1e-5 * expected);
  EXPECT_LT(largest_weight_difference(dir / "alone/model/model.safetensors", dir / "together/model/model.safetensors"),
            1e-4);
  EXPECT_EQ(json::parse(slurp(dir / "together/environment.json"))["processes"], 2);
  const std::string metrics = slurp(dir / "together/metrics.jsonl");
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 3);
}

// Starts two processes as launchers do: with `first` and `second` as their arguments.
struct Both {
  int codes[2];
  std::string errors[2];
};
Both run_both(const TempDir& dir, const std::string& first, const std::string& second) {
  const std::string port = std::to_string(20000 + ::getpid() % 20000);
  const auto command = [&](int rank, const std::string& arguments) {
    const std::string number = std::to_string(rank);
    return "RANK=" + number + " WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=" + port + " '" GRAPHPAE_PROGRAM "' " +
           arguments + " --threads 1 >out" + number + " 2>err" + number + " </dev/null";
  };
  const std::string all = "cd '" + dir.path() + "' && { " + command(0, first) + " & pid=$!; " + command(1, second) +
                          "; echo $? >code1; wait $pid; echo $? >code0; }";
  dir.write("both.sh", all);
  EXPECT_EQ(std::system(("bash '" + (dir / "both.sh") + "'").c_str()), 0);
  return {{std::stoi(slurp(dir / "code0")), std::stoi(slurp(dir / "code1"))},
          {slurp(dir / "err0"), slurp(dir / "err1")}};
}

TEST(CliLaunch, OtherSettingsOrDataAreFound) {
  const TempDir dir;
  test::make_graph(dir);
  ASSERT_EQ(run(dir, "generate heterophilic -o h --nodes 200 --edges 901 --features 40 -q").code, 0);
  const std::string arguments = std::string(" --epochs 1 -q -o r") + kSamples;
  const Both other_data = run_both(dir, "pretrain g" + arguments, "pretrain h" + arguments);
  const Both other_settings = run_both(dir, "pretrain g" + arguments, "pretrain g" + arguments + "--set alpha=0.25");
  for (const int rank : {0, 1}) {
    EXPECT_EQ(other_data.codes[rank], 2);
    EXPECT_NE(other_data.errors[rank].find("rank 1: another data hash than rank 0"), std::string::npos)
        << other_data.errors[rank];
    EXPECT_EQ(other_settings.codes[rank], 2);
    EXPECT_NE(other_settings.errors[rank].find("rank 1: alpha=0.25, rank 0 has"), std::string::npos)
        << other_settings.errors[rank];
  }
  EXPECT_FALSE(std::filesystem::exists(dir / "r"));
}

TEST(CliLaunch, RefusesWhatCannotWork) {
  const TempDir dir;
  test::make_graph(dir);
  const std::string arguments = std::string("pretrain g --epochs 1 -o r") + kSamples;
  const auto fails = [&](const std::string& environment, const std::string& more, const std::string& part) {
    const Outcome outcome = run(dir, arguments + more, environment);
    EXPECT_EQ(outcome.code, 2) << outcome.err;
    EXPECT_NE(outcome.err.find(part), std::string::npos) << outcome.err;
  };
  fails("WORLD_SIZE=2", "", "WORLD_SIZE is set and RANK is not");
  fails("RANK=1 WORLD_SIZE=2 MASTER_ADDR=127.0.0.1 MASTER_PORT=9", "--timeout 1", "no master at 127.0.0.1:9 in 1 s");
  expect_failure(dir, "launch -n 2 -- embed r g -o e.npy", 2, "'embed' runs in one process");
  expect_failure(dir, "launch -n 2", 2, "COMMAND");
  expect_failure(dir, "launch -n 0 -- pretrain g", 2, "--processes: Value 0 not in range");
  const Outcome whole = run(dir, "launch -n 2 -- pretrain g --epochs 1 -o r --set width=16 --set eigenvectors=4");
  EXPECT_EQ(whole.code, 2) << whole.err;
  EXPECT_NE(whole.err.find("a whole graph in a step needs batch_size"), std::string::npos) << whole.err;
}

// Runs a launch, and `when` metrics.jsonl has two lines a shell command in which $rank1 is a process.
Outcome launch_and(const TempDir& dir, const std::string& arguments, const std::string& then) {
  const std::string command =
      "cd '" + dir.path() + "' && { '" GRAPHPAE_PROGRAM "' " + arguments +
      " >.out 2>.err </dev/null & pid=$!; tries=0; while [ \"$(cat r/metrics.jsonl 2>/dev/null | wc -l)\" -lt 2 ] && "
      "[ $tries -lt 1200 ]; do sleep 0.05; tries=$((tries+1)); done; "
      "for child in $(cat /proc/$pid/task/$pid/children); do grep -qz '^RANK=1$' /proc/$child/environ && rank1=$child; "
      "done; " +
      then + "; wait $pid; }";
  dir.write("launch.sh", command);
  const int status = std::system(("bash '" + (dir / "launch.sh") + "'").c_str());
  return {WEXITSTATUS(status), slurp(dir / ".out"), slurp(dir / ".err")};
}

TEST(CliLaunch, AProcessThatDiesIsNamedAndTheRunGoesOn) {
  const TempDir dir;
  test::make_graph(dir);
  const std::string arguments =
      std::string("pretrain g --epochs 100 -o r --checkpoint-every 1 --no-progress") + kSamples;
  const auto start = std::chrono::steady_clock::now();
  const Outcome died = launch_and(dir, "launch -n 2 -- " + arguments, "kill -KILL $rank1");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  EXPECT_EQ(died.code, 1) << died.err;
  EXPECT_NE(died.err.find("rank 1 of 2 is gone"), std::string::npos) << died.err;
  EXPECT_NE(died.err.find("rank 1 was ended by signal 9"), std::string::npos) << died.err;
  const Outcome resumed = run(dir, "pretrain g -o r --resume --no-progress");
  EXPECT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("going on after epoch"), std::string::npos) << resumed.err;
}

TEST(CliLaunch, StopsTogetherAndGoesOnWithAnotherNumber) {
  const TempDir dir;
  test::make_graph(dir);
  const std::string arguments = std::string("pretrain g --epochs 60 --no-progress") + kSamples;
  const Outcome stopped = launch_and(dir, "launch -n 2 -- " + arguments + "-o r", "kill -INT $pid");
  ASSERT_EQ(stopped.code, 130) << stopped.err;
  // What was chosen and how it ended, once each.
  EXPECT_EQ(std::count(stopped.err.begin(), stopped.err.end(), '\n'), 2) << stopped.err;
  EXPECT_NE(stopped.err.find("interrupted after epoch"), std::string::npos) << stopped.err;
  const Outcome resumed = run(dir, "launch -n 3 -- pretrain g -o r --resume --no-progress");
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_NE(resumed.err.find("going on after epoch"), std::string::npos) << resumed.err;
  const std::string metrics = slurp(dir / "r/metrics.jsonl");
  EXPECT_EQ(std::count(metrics.begin(), metrics.end(), '\n'), 60);
}

}  // namespace
}  // namespace graphpae
