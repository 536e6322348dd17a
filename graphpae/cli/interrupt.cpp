#include "graphpae/cli/interrupt.h"

#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <thread>

#include "graphpae/core/error.h"
#include "graphpae/io/atomic_file.h"

namespace graphpae::cli {

void handle_interrupts() {
  sigset_t signals;
  sigemptyset(&signals);
  sigaddset(&signals, SIGINT);
  sigaddset(&signals, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::thread([signals] {
    int signal = 0;
    sigwait(&signals, &signal);
    remove_unfinished_outputs();
    std::fputs("graphpae: error: interrupted\n", stderr);
    ::_exit(static_cast<int>(ErrorKind::interrupted));
  }).detach();
}

}  // namespace graphpae::cli
