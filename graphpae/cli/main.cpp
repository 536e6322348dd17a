// graphpae: one program, one verb per job.
//
// LibTorch takes half a second to load, so there are two programs behind one name: this one reads, converts and
// generates data and solves for positions; every other verb is handed to graphpae-full beside it.
#include <algorithm>
#include <array>
#include <cstdio>

#include "graphpae/cli/program.h"
#include "graphpae/cli/waiting.h"
#include "graphpae/core/error.h"

int main(int argc, char** argv) {
  using namespace graphpae::cli;
  constexpr std::array kHere = {"generate", "info", "convert", "recipes", "positions", "launch", "reproduce"};
  const bool here = std::find(kHere.begin(), kHere.end(), first_word(argc, argv)) != kHere.end();
  become_patient(argv, here ? "" : "graphpae-full");
  if (!here) {
    std::fputs("graphpae: error: graphpae-full is neither beside this program nor in ../lib/graphpae\n", stderr);
    return static_cast<int>(graphpae::ErrorKind::internal);
  }
  return run_program(argc, argv);
}
