#include <fmt/format.h>

#include <cstdlib>
#include <memory>

#include "bench/kernels_bench.h"
#include "bench/positions_bench.h"
#include "bench/probe_bench.h"
#include "graphpae/cli/bench_training.h"
#include "graphpae/cli/command.h"
#include "graphpae/core/error.h"

namespace graphpae::cli {
namespace {

using bench::PositionsBenchRow;

constexpr const char* kPositionsHead =
    "graph        nodes      edges    K   seconds  residual     GB  product/stream GB/s    ARPACK  residual     GB   "
    "ratio  "
    "missed by ARPACK\n";

void print_row(const PositionsBenchRow& row) {
  if (!row.present) return fmt::print("{:<10} not there (--data DIR names a directory with it)\n", row.graph);
  fmt::print("{:<10} {:>7} {:>10} {:>4} {:>9.3f}  {:>8.1e} {:>6.3f} {:>12.1f} / {:<6.1f}", row.graph, row.nodes,
             row.directed_edges, row.k, row.seconds, row.max_residual, static_cast<double>(row.bytes) / 1e9,
             row.product_gb_per_s, row.stream_gb_per_s);
  if (row.arpack_seconds > 0) {
    fmt::print(
        "  {:>7.2f}  {:>8.1e} {:>6.3f}  {:>5.1f}x  {}", row.arpack_seconds, row.arpack_residual,
        static_cast<double>(row.arpack_bytes) / 1e9, row.arpack_seconds / row.seconds,
        row.arpack_misses > 1e-4 ? fmt::format("yes, an eigenvalue is {:.1e} too large", row.arpack_misses) : "none");
  }
  fmt::print("{}\n", row.converged == row.k ? "" : "  NOT CONVERGED");
  std::fflush(stdout);
}

Json row_json(const PositionsBenchRow& row) {
  return {{"graph", row.graph},
          {"present", row.present},
          {"nodes", row.nodes},
          {"directed_edges", row.directed_edges},
          {"k", row.k},
          {"seconds", row.seconds},
          {"max_residual", row.max_residual},
          {"converged", row.converged},
          {"bytes", row.bytes},
          {"product_gb_per_s", row.product_gb_per_s},
          {"stream_gb_per_s", row.stream_gb_per_s},
          {"arpack_seconds", row.arpack_seconds},
          {"arpack_residual", row.arpack_residual},
          {"arpack_bytes", row.arpack_bytes},
          {"arpack_misses", row.arpack_misses},
          {"ours_misses", row.ours_misses}};
}

}  // namespace

void run_positions(bench::PositionsBenchOptions options, const Common& common) {
  if (!common.json) fmt::print("{}", kPositionsHead);
  const auto rows = bench::run_positions_bench(options, [&](const PositionsBenchRow& row) {
    if (!common.json) print_row(row);
  });
  if (!common.json) return;
  Json list = Json::array();
  for (const PositionsBenchRow& row : rows) list.push_back(row_json(row));
  print_json(list);
}

void bench_probe(int repeat, bool reference, const Common& common) {
  const bench::ProbeBench b = bench::run_probe_bench(common.thread_count(), repeat, reference);
  const bench::GraphProbeBench m = bench::run_graph_probe_bench(common.thread_count());
  const double peak = bench::run_probes(common.thread_count()).fma_gflops;
  if (common.json) {
    return print_json(
        {{"together_ms", b.together_ms},
         {"one_by_one_ms", b.one_by_one_ms},
         {"libtorch_ms", b.libtorch_ms},
         {"gflops", b.gflops},
         {"fma_gflops", peak},
         {"molecules", {{"classes_s", m.classes_s}, {"numbers_s", m.numbers_s}, {"tasks_s", m.tasks_s}}}});
  }
  fmt::print("an epoch of {} probes, {} x {} rows, {} classes\n", b.splits, b.rows, b.columns, b.classes);
  fmt::print("  side by side        {:>8.2f} ms   {:.0f} GFLOP/s, {:.0f} % of multiply-adds in registers\n",
             b.together_ms, b.gflops, 100 * b.gflops / peak);
  fmt::print("  one after another   {:>8.2f} ms   {:.1f}x\n", b.one_by_one_ms, b.one_by_one_ms / b.together_ms);
  if (reference)
    fmt::print("  plain LibTorch      {:>8.2f} ms   {:.1f}x\n", b.libtorch_ms, b.libtorch_ms / b.together_ms);
  fmt::print("probes of molecules: 5 folds x 7 penalties and the refit, {} columns, 80 % of the rows trained on\n",
             m.columns);
  fmt::print("  two classes         {:>8.2f} s    {} rows\n", m.classes_s, m.rows);
  fmt::print("  numbers             {:>8.2f} s    {} rows\n", m.numbers_s, m.rows);
  fmt::print("  {:<2} tasks of classes {:>8.2f} s    {} rows\n", m.tasks, m.tasks_s, m.many_rows);
}

void add_bench(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("bench", "measure this machine: solver, kernels and epochs against their peers");
  struct Flags {
    std::string name = "kernels", data;
    std::vector<std::string> graphs;
    int repeat = 0;
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
    if (flags->name == "positions") {
      bench::PositionsBenchOptions options;
      options.graphs = flags->graphs.empty() ? bench::positions_bench_graphs() : flags->graphs;
      options.data = flags->data;
      options.threads = common.thread_count();
      options.arpack = !flags->no_reference;
      if (flags->repeat > 0) options.repeat = flags->repeat;
      return run_positions(options, common);
    }
    TrainingBenchOptions options{flags->data, flags->graphs, flags->repeat > 0 ? flags->repeat : 7,
                                 !flags->no_reference};
    if (flags->name == "kernels") return bench_kernels(options, common);
    if (flags->name == "epochs") return bench_epochs(options, common);
    if (flags->name == "molecules") {
      options.repeat = flags->repeat > 0 ? flags->repeat : 40;
      return bench_molecules(options, common);
    }
    if (flags->name == "shards") return bench_shards(options, common);
    if (flags->name == "sampling") return bench_sampling(options, common);
    if (flags->name == "exchange") return bench_exchange(options, common);
    if (flags->name == "large") {
      options.repeat = flags->repeat > 0 ? flags->repeat : 100;
      return bench_large(options, common);
    }
    if (flags->name == "probe") return bench_probe(flags->repeat > 0 ? flags->repeat : 20, options.reference, common);
    throw usage_error(
        fmt::format("unknown benchmark '{}'; kernels, epochs, molecules, shards, sampling, exchange, large, probe and "
                    "positions are known",
                    flags->name));
  });
}

}  // namespace graphpae::cli
