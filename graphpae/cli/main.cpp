// graphpae: one program, one verb per job.
//
// LibTorch takes half a second to load, so there are several programs behind one name: this one has the verbs below,
// graphpae-bench beside it has bench, and every other verb is handed to graphpae-full.
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>

#include "graphpae/cli/program.h"
#include "graphpae/core/error.h"

namespace {

namespace fs = std::filesystem;

// Idle threads of libgomp spin for milliseconds, which makes small parallel regions up to a hundred times slower on a
// busy machine; threads that sleep at once make them slower on an idle one. The choice is read from the environment
// when the library is loaded, so the program starts itself once more with a GOMP_SPINCOUNT in between unless the user
// has chosen. If `other` is not empty, the program of that name beside this one (or in ../lib/graphpae) is started
// instead; if it is not there, this one goes on.
void restart_with_short_spins(char** argv, const std::string& other) {
  std::error_code failure;
  const fs::path self = fs::read_symlink("/proc/self/exe", failure);
  if (failure) return;
  const bool chosen = std::getenv("OMP_WAIT_POLICY") != nullptr || std::getenv("GOMP_SPINCOUNT") != nullptr;
  if (!chosen) ::setenv("GOMP_SPINCOUNT", "5000", 1);  // some hundredths of a millisecond
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

}  // namespace

int main(int argc, char** argv) {
  using namespace graphpae::cli;
  constexpr std::array kHere = {"generate", "info",      "convert", "recipes",  "methods",
                                "settings", "positions", "launch",  "reproduce"};
  const std::string verb = first_word(argc, argv);
  const bool version = argc == 2 && std::string_view(argv[1]) == "--version", bench = verb == "bench";
  const bool here = version || std::find(kHere.begin(), kHere.end(), verb) != kHere.end();
  restart_with_short_spins(argv, here ? "" : bench ? "graphpae-bench" : "graphpae-full");
  if (here || bench) return run_program(argc, argv);  // bench has its help here, too
  std::fputs("graphpae: error: graphpae-full is neither beside this program nor in ../lib/graphpae\n", stderr);
  return static_cast<int>(graphpae::ErrorKind::internal);
}
