// A progress bar with rate and time left on a terminal, a plain line now and then otherwise; on stderr.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>

#include "graphpae/cli/command.h"

namespace graphpae::cli {

class Progress {
 public:
  // `unit` is what is counted: "pairs", "graphs", "epochs".
  // `first` are done before it starts, in an earlier run.
  Progress(const Common& common, std::string unit, int64_t total, int64_t first = 0);
  ~Progress();  // ends the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(int64_t done, const std::string& note = "");  // the note is added to the line

 private:
  std::string unit_;
  int64_t total_, first_;
  bool shown_, terminal_;
  std::chrono::steady_clock::time_point start_, last_;
  bool printed_ = false;
};

}  // namespace graphpae::cli
