#include "graphpae/cli/restart.h"

#include <unistd.h>

#include <cstdlib>
#include <filesystem>

namespace graphpae::cli {

constexpr const char* kSpins = "5000";  // some hundredths of a millisecond

void restart_with_short_spins(char** argv, const std::string& other) {
  namespace fs = std::filesystem;
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self/exe", failure);
  if (failure) return;
  const bool chosen = std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr;
  if (!chosen) ::setenv("GOMP_SPINCOUNT", kSpins, 1);
  // LibTorch speaks of lost connections on stderr, in many lines; we say it in one.
  ::setenv("GLOG_minloglevel", "3", 0);
  ::setenv("TORCH_CPP_LOG_LEVEL", "FATAL", 0);
  if (other.empty()) {
    if (!chosen) ::execv(self.c_str(), argv);
    return;
  }
  for (const fs::path& directory : {self.parent_path(), self.parent_path().parent_path() / "lib" / "graphpae"})
    ::execv((directory / other).c_str(), argv);
}

}  // namespace graphpae::cli
