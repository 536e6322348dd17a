// graphpae-bench: the verb `bench`, beside those that need no LibTorch. Started by graphpae.
#include "bench/verb.h"
#include "graphpae/cli/program.h"

int main(int argc, char** argv) {
  using graphpae::cli::Common;
  return graphpae::cli::run_program(argc, argv,
                                    [](CLI::App& app, Common& common) { graphpae::bench::add_bench(app, common); });
}
