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

  static bool requested();
};

// From now on the program ends without a word: it is one of several, and their launcher speaks.
void end_silently_when_interrupted();

// Call once, early in main.
void handle_interrupts();

}  // namespace graphpae::cli
