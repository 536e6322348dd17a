#include "bench/verb.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "bench/reports.h"
#include "graphpae/cli/bench_verb.h"
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
  auto flags = std::make_shared<cli::BenchFlags>();
  cli::declare_bench(app, *flags)->callback([flags, &common] {
    const auto* report = std::find_if(std::begin(kReports), std::end(kReports),
                                      [&](const auto& known) { return flags->name == known.first; });
    if (report == std::end(kReports)) {
      throw usage_error(
          fmt::format("unknown benchmark '{}'; kernels, epochs, molecules, shards, sampling, exchange, large, probe "
                      "and positions are known",
                      flags->name));
    }
    report->second({flags->data, flags->graphs, flags->repeat, !flags->no_reference}, common);
  });
}

}  // namespace graphpae::bench
