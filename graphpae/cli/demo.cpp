#include <fmt/format.h>

#include "graphpae/cli/command.h"
#include "graphpae/data/generate.h"

namespace graphpae::cli {

void add_demo(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("demo", "the whole story on a built-in generated graph, offline");
  verb->callback([&common] {
    const Dataset dataset{
        generate(generate_defaults("heterophilic"), common.thread_count()), "generated heterophilic", {}};
    if (common.json) return print_json(info_json(dataset));
    fmt::print("{}\n", info_text(dataset, "demo graph"));
    fmt::print(
        "This version reads, checks and generates graphs and computes their positions; pre-training comes next. Try:\n"
        "  graphpae info DATA                        what is in your file\n"
        "  graphpae convert DATA -o DIR              bring it into our directory form\n"
        "  graphpae positions DATA -k 50 -o P.npz    its Laplacian eigenvectors\n"
        "  graphpae generate heterophilic -o DIR     make a graph like this one\n"
        "  graphpae recipes chameleon                the published settings of a data set\n");
  });
}

}  // namespace graphpae::cli
