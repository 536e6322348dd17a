// Ctrl-C and SIGTERM: unfinished outputs are removed and the program ends with code 130.
#pragma once

namespace graphpae::cli {

// While one exists, the first signal only asks the program to stop; the second one ends it as above.
class GracefulStop {
 public:
  GracefulStop();
  ~GracefulStop();
  GracefulStop(const GracefulStop&) = delete;
  GracefulStop& operator=(const GracefulStop&) = delete;

  bool requested() const;
};

// Call first in main, before any thread exists: all threads then leave the signals to one that waits for them.
void handle_interrupts();

}  // namespace graphpae::cli
