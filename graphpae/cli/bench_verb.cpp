#include "graphpae/cli/bench_verb.h"

#include <cstdlib>
#include <memory>

#include "graphpae/core/error.h"

namespace graphpae::cli {

CLI::App* declare_bench(CLI::App& app, BenchFlags& flags) {
  CLI::App* verb = app.add_subcommand("bench", "Measure this machine: solver, kernels and epochs against their peers.");
  const char* data = std::getenv("GRAPHPAE_DATA");
  flags.data = data == nullptr ? "" : data;
  verb->add_option("NAME", flags.name,
                   "Measure this: kernels, epochs, molecules, shards, sampling, exchange, large, probe or positions.")
      ->type_name("kernels|epochs|molecules|shards|sampling|exchange|large|probe|positions")
      ->capture_default_str();
  verb->add_option("--graphs", flags.graphs,
                   "Measure on these graphs: of squirrel, cornell5, b, c, d and large for positions, otherwise of "
                   "chameleon, squirrel, actor, blogcatalog and cornell5.")
      ->type_name("NAMES")
      ->delimiter(',');
  verb->add_option("--data", flags.data,
                   "Look for the real graphs in this directory, for shards in this one, and write the output of large "
                   "to it; the default is $GRAPHPAE_DATA.")
      ->type_name("DIR");
  verb->add_option("--repeat", flags.repeat,
                   "Measure this many runs, epochs or steps after warm-up; the default is 3 solver runs, 100 steps of "
                   "large and 7 otherwise.")
      ->type_name("N")
      ->check(CLI::Range(1, 1000));
  verb->add_flag("--no-reference,--no-arpack", flags.no_reference, "Leave out the comparison.");
  return verb;
}

void add_absent_bench(CLI::App& app) {
  auto flags = std::make_shared<BenchFlags>();
  declare_bench(app, *flags)->callback([flags] {
    throw Error(ErrorKind::internal, "benchmarks are not built; `./run bench` builds them");
  });
}

}  // namespace graphpae::cli
