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
  Progress(const Common& common, std::string unit, int64_t total);
  ~Progress();  // ends the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;

  void update(int64_t done);

 private:
  std::string unit_;
  int64_t total_;
  bool shown_, terminal_;
  std::chrono::steady_clock::time_point start_, last_;
  bool printed_ = false;
};

}  // namespace graphpae::cli
