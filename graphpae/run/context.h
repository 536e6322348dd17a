// What every verb of run/ is given: how to compute, and who watches.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "graphpae/core/threads.h"
#include "graphpae/ops/kernels.h"

namespace graphpae::run {

// A long piece of work. Another unit or total is another piece.
struct ProgressReport {
  std::string unit;  // "epochs", "eigenpairs"
  int64_t done = 0, total = 0;
  int64_t before = 0;  // done by an earlier process, for rates
  std::string note;
};

// What a caller sees of a verb while it works, and how it may end it. All may be empty.
struct Watch {
  std::function<void(const std::string& line)> note;     // what a user should know of data, settings or results
  std::function<void(const std::string& line)> message;  // how the work goes
  std::function<void(const ProgressReport&)> progress;
  std::function<bool()> stop;  // true: keep a checkpoint and throw an interrupted error

  void say(const std::string& line) const {
    if (note) note(line);
  }
  void say_all(const std::vector<std::string>& lines) const {
    for (const std::string& line : lines) say(line);
  }
  void tell(const std::string& line) const {
    if (message) message(line);
  }
  void report(const ProgressReport& report) const {
    if (progress) progress(report);
  }
  bool stopping() const { return stop && stop(); }
};

struct Context {
  Threads threads = all_threads();
  Kernels kernels = Kernels::fused;
  std::string cache;    // directory for positions and molecules; empty: none
  std::string command;  // for environment.json: the command line, or what the caller calls itself
  // Words of a command that, with config.yaml of the run, trains the same: for its page. Empty: there is none.
  std::vector<std::string> again;
  Watch watch;
};

}  // namespace graphpae::run
