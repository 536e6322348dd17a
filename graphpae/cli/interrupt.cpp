#include "graphpae/cli/interrupt.h"

#include <unistd.h>

#include <atomic>
#include <csignal>
#include <cstdio>
#include <thread>

#include "graphpae/core/error.h"
#include "graphpae/io/atomic_file.h"

namespace graphpae::cli {
namespace {

// Shared with the thread that waits for signals; one program has one of each.
std::atomic<bool> graceful{false}, requested_stop{false};

}  // namespace

GracefulStop::GracefulStop() { graceful = true; }
GracefulStop::~GracefulStop() { graceful = false; }
bool GracefulStop::requested() const { return requested_stop; }

void handle_interrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals] {
    int signal = 0;
    sigwait(&signals, &signal);
    if (graceful && !requested_stop.exchange(true)) sigwait(&signals, &signal);
    remove_unfinished_outputs();
    std::fputs("graphpae: error: interrupted\n", stderr);
    ::_exit(static_cast<int>(ErrorKind::interrupted));
  }).detach();
}

}  // namespace graphpae::cli
