// The program as tests run it.
#pragma once

#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/temp_dir.h"

namespace graphpae::test {

struct Outcome {
  int code;
  std::string out, err;
};

inline Outcome run(const TempDir& dir, const std::string& arguments, const std::string& launcher = "") {
  const std::string out = dir / ".out", err = dir / ".err";
  const std::string command = "cd '" + dir.path() + "' && GRAPHPAE_DATA= XDG_CACHE_HOME='" + dir.path() + "/.cache' " +
                              launcher + " '" GRAPHPAE_PROGRAM "' " + arguments + " >'" + out + "' 2>'" + err +
                              "' </dev/null";
  const int status = std::system(command.c_str());
  return {WEXITSTATUS(status), slurp(out), slurp(err)};
}

// Exit code, one line on stderr that starts with "graphpae: error: " and holds `part`, nothing on stdout.
inline void expect_failure(const TempDir& dir, const std::string& arguments, int code, const std::string& part) {
  const Outcome outcome = run(dir, arguments);
  EXPECT_EQ(outcome.code, code) << arguments << "\n" << outcome.err;
  EXPECT_EQ(outcome.out, "") << arguments;
  EXPECT_EQ(std::count(outcome.err.begin(), outcome.err.end(), '\n'), 1) << arguments << "\n" << outcome.err;
  EXPECT_TRUE(outcome.err.starts_with("graphpae: error: ")) << outcome.err;
  EXPECT_NE(outcome.err.find(part), std::string::npos) << arguments << "\n" << outcome.err;
}

inline bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

inline std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// A small graph and settings that train in a second.
inline const char* const kSmall =
    " --set width=32 --set heads=4 --set layers=2 --set eigenvectors=6 --set gaussians=16 ";

inline void make_graph(const TempDir& dir) {
  const Outcome made = run(dir, "generate heterophilic -o g --nodes 200 --edges 900 --features 40 -q");
  ASSERT_EQ(made.code, 0) << made.err;
}

// Runs `arguments` and sends the signal when r/metrics.jsonl has at least `lines` lines.
inline Outcome run_and_signal(const TempDir& dir, const std::string& arguments, const std::string& signal, int lines) {
  const std::string out = dir / ".out", err = dir / ".err";
  const std::string command =
      "cd '" + dir.path() + "' && { '" GRAPHPAE_PROGRAM "' " + arguments + " >'" + out + "' 2>'" + err +
      "' </dev/null & pid=$!; tries=0; while [ \"$(cat r/metrics.jsonl 2>/dev/null | wc -l)\" -lt " +
      std::to_string(lines) + " ] && [ $tries -lt 2400 ]; do sleep 0.05; tries=$((tries+1)); done; kill -" + signal +
      " $pid; wait $pid; }";
  const int status = std::system(command.c_str());
  return {WEXITSTATUS(status), slurp(out), slurp(err)};
}

}  // namespace graphpae::test
