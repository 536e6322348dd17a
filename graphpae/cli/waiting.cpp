#include "graphpae/cli/waiting.h"

#include <unistd.h>

#include <cstdlib>

namespace graphpae::cli {

void wait_without_spinning(char** argv) {
  constexpr const char* kPolicy = "OMP_WAIT_POLICY";
  if (std::getenv(kPolicy) != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr) return;
  ::setenv(kPolicy, "passive", 1);
  ::execv("/proc/self/exe", argv);  // returns only if it fails; then the work is slower, not wrong
}

}  // namespace graphpae::cli
