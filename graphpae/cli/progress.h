// A progress bar with rate and time left on a terminal, a plain line now and then otherwise; on stderr.
#pragma once

#include <cstdint>
#include <string>

#include "graphpae/cli/command.h"
#include "graphpae/core/stopwatch.h"

namespace graphpae::cli {

// How far the work is.
struct ProgressState {
  int64_t done = 0, total = 1, first = 0;  // `first` were done before
  std::string unit, note;
  double seconds = 0;  // since the start
};
// One line about it, at most `width` characters: what matters least goes first if there is no room for all. With a bar
// unless the width is unlimited.
std::string progress_line(const ProgressState& state, size_t width);

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
  void draw();

  ProgressState state_;
  bool shown_, terminal_;
  Stopwatch since_start_, since_drawn_;
  bool printed_ = false;
  size_t printed_width_ = 0;  // of the line on the terminal
};

}  // namespace graphpae::cli
