#include "graphpae/cli/interrupt.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <thread>

#include "graphpae/core/error.h"
#include "graphpae/io/atomic_file.h"

namespace graphpae::cli {
namespace {

// Shared with the signal handler and the thread behind it; one program has one of each.
int signal_pipe[2] = {-1, -1};
std::atomic<int> graceful{0};
std::atomic<bool> requested_stop{false}, silent{false};

// Libraries start threads before main, so a signal may arrive in any thread: all a handler may do is pass it on.
void pass_on(int) {
  const int saved = errno;
  const char byte = 0;
  [[maybe_unused]] const ssize_t written = ::write(signal_pipe[1], &byte, 1);
  errno = saved;
}

void wait_for_signal() {
  char byte = 0;
  while (::read(signal_pipe[0], &byte, 1) < 0 && errno == EINTR) {
  }
}

}  // namespace

GracefulStop::GracefulStop() { ++graceful; }
GracefulStop::~GracefulStop() { --graceful; }
bool GracefulStop::requested() { return requested_stop; }

void end_silently_when_interrupted() { silent = true; }

void handle_interrupts() {
  if (::pipe2(signal_pipe, O_CLOEXEC) != 0) return;  // without it signals end the program at once
  struct sigaction action {};
  action.sa_handler = pass_on;
  action.sa_flags = SA_RESTART;
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
  std::thread([] {
    wait_for_signal();
    if (graceful > 0 && !requested_stop.exchange(true)) wait_for_signal();
    remove_unfinished_outputs();
    if (!silent) std::fputs("graphpae: error: interrupted\n", stderr);
    ::_exit(static_cast<int>(ErrorKind::interrupted));
  }).detach();
}

}  // namespace graphpae::cli
