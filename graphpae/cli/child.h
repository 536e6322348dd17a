// This program, started again by itself.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "graphpae/cli/interrupt.h"

namespace graphpae::cli {

// Starts `graphpae WORDS...` as a process of its own group, so that a signal from the terminal reaches it once, through
// us; it ends when we do. `prepare` runs in it before the program does and may only call what is safe after fork.
pid_t start_self(const std::vector<std::string>& words, const std::function<void()>& prepare);

struct ChildOptions {
  std::string directory;                                         // where it works; "" for here
  std::vector<std::pair<std::string, std::string>> environment;  // added to ours
  std::function<void()> tick;                                    // called now and then while it runs
};

struct ChildOutcome {
  int code = 0;  // exit code; 128 + its number if a signal ended it
  std::string out;
  std::string error;  // its last line on stderr, without "graphpae: error: "
};

// Waits for it. If `stop` is requested meanwhile, the child is asked to stop and waited for.
ChildOutcome run_self(const std::vector<std::string>& words, const ChildOptions& options, const GracefulStop& stop);

}  // namespace graphpae::cli
