// This program, started again as a child process.
#pragma once

#include <sys/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace graphpae {

struct ChildOptions {
  std::string directory;                                         // where it works; "" for here
  std::vector<std::pair<std::string, std::string>> environment;  // added to ours
  bool discard_output = false;                                   // of start_self: its stdout
  // Of run_self, called now and then while the child runs:
  std::function<void()> tick;
  std::function<bool()> stop;  // true: the child is asked to stop, and waited for
};

// Starts `graphpae WORDS...` as a process of its own group, so that a signal from the terminal reaches it once, through
// us. It has no input, and is asked to stop when we end.
pid_t start_self(const std::vector<std::string>& words, const ChildOptions& options = {});

struct ChildOutcome {
  int code = 0;  // exit code; 128 + its number if a signal ended it
  std::string out;
  std::string error;  // its last line on stderr, without "graphpae: error: "
};

// Likewise, and waits for it.
ChildOutcome run_self(const std::vector<std::string>& words, const ChildOptions& options = {});

// A port of this machine, for processes that talk to each other, that nobody listens to now. Throws an internal error
// if there is none.
int free_port();

}  // namespace graphpae
