#include "bench/verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "bench/reports.h"
#include "graphpae/core/error.h"

namespace graphpae::bench {
namespace {

using Report = void (*)(const ReportOptions&, const cli::Common&);

constexpr std::pair<const char*, Report> kReports[] = {
    {"kernels", report_kernels}, {"epochs", report_epochs},     {"molecules", report_molecules},
    {"shards", report_shards},   {"sampling", report_sampling}, {"exchange", report_exchange},
    {"large", report_large},     {"probe", report_probe},       {"positions", report_positions},
};

}  // namespace

void add_bench(CLI::App& app, cli::Common& common) {
  CLI::App* verb = app.add_subcommand("bench", "measure this machine: solver, kernels and epochs against their peers");
  struct Flags : ReportOptions {
    std::string name = "kernels";
    bool no_reference = false;
  };
  auto flags = std::make_shared<Flags>();
  const char* data = std::getenv("GRAPHPAE_DATA");
  flags->data = data == nullptr ? "" : data;
  verb->add_option("NAME", flags->name,
                   "what to measure: kernels, epochs, molecules, shards, sampling, exchange, large, probe or positions")
      ->capture_default_str();
  verb->add_option(
          "--graphs", flags->graphs,
          "positions: of squirrel, cornell5, b, c, d, large; otherwise of chameleon, squirrel, actor, blogcatalog, "
          "cornell5")
      ->delimiter(',');
  verb->add_option(
      "--data", flags->data,
      "directory with the real graphs (default: $GRAPHPAE_DATA); shards: one of shards; large: for the output");
  verb->add_option("--repeat", flags->repeat,
                   "runs, epochs or steps after warm-up (default: 3 solver runs, 100 steps of large, 7 otherwise)")
      ->check(CLI::Range(1, 1000));
  verb->add_flag("--no-reference,--no-arpack", flags->no_reference, "without the comparison");
  verb->callback([flags, &common] {
    flags->reference = !flags->no_reference;
    const auto* report = std::find_if(std::begin(kReports), std::end(kReports),
                                      [&](const auto& known) { return flags->name == known.first; });
    if (report == std::end(kReports)) {
      throw usage_error(
          fmt::format("unknown benchmark '{}'; kernels, epochs, molecules, shards, sampling, exchange, large, probe "
                      "and positions are known",
                      flags->name));
    }
    report->second(*flags, common);
  });
}

}  // namespace graphpae::bench
