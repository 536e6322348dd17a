// graphpae: one program, one verb per job.
//
// LibTorch takes half a second to load, so there are several programs behind one name: this one has the verbs below,
// graphpae-bench beside it has bench, and every other verb is handed to graphpae-full.
#include <algorithm>
#include <array>
#include <cstdio>

#include "graphpae/cli/program.h"
#include "graphpae/cli/restart.h"
#include "graphpae/core/error.h"

int main(int argc, char** argv) {
  using namespace graphpae::cli;
  constexpr std::array kHere = {"generate", "info",      "convert", "recipes",  "methods",
                                "settings", "positions", "launch",  "reproduce"};
  const std::string verb = first_word(argc, argv);
  const bool here = std::find(kHere.begin(), kHere.end(), verb) != kHere.end(), bench = verb == "bench";
  restart_with_short_spins(argv, here ? "" : bench ? "graphpae-bench" : "graphpae-full");
  if (here) return run_program(argc, argv);
  std::fputs(bench ? "graphpae: error: benchmarks are not built; `./run bench` builds them\n"
                   : "graphpae: error: graphpae-full is neither beside this program nor in ../lib/graphpae\n",
             stderr);
  return static_cast<int>(graphpae::ErrorKind::internal);
}
