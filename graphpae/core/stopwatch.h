// Stopwatch: seconds since it was made, by a clock that never goes back.
#pragma once

#include <chrono>

namespace graphpae {

class Stopwatch {
 public:
  double seconds() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  void restart() { start_ = Clock::now(); }

 private:
  using Clock = std::chrono::steady_clock;
  Clock::time_point start_ = Clock::now();
};

}  // namespace graphpae
