#include <fmt/format.h>

#include <cstdio>

#include "bench/positions_bench.h"
#include "bench/probe_bench.h"
#include "bench/probes.h"
#include "bench/reports.h"

namespace graphpae::bench {
namespace {

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

cli::Json row_json(const PositionsBenchRow& row) {
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

void report_positions(const ReportOptions& options, const cli::Common& common) {
  PositionsBenchOptions wanted;
  wanted.graphs = options.graphs.empty() ? positions_bench_graphs() : options.graphs;
  wanted.data = options.data;
  wanted.threads = common.thread_count();
  wanted.arpack = options.reference;
  wanted.repeat = options.repeat_or(wanted.repeat);
  if (!common.json) fmt::print("{}", kPositionsHead);
  const auto rows = run_positions_bench(wanted, [&](const PositionsBenchRow& row) {
    if (!common.json) print_row(row);
  });
  if (!common.json) return;
  cli::Json list = cli::Json::array();
  for (const PositionsBenchRow& row : rows) list.push_back(row_json(row));
  cli::print_json(list);
}

void report_probe(const ReportOptions& options, const cli::Common& common) {
  const ProbeBench b = run_probe_bench(common.thread_count(), options.repeat_or(20), options.reference);
  const GraphProbeBench m = run_graph_probe_bench(common.thread_count());
  const double peak = run_probes(common.thread_count()).fma_gflops;
  if (common.json) {
    return cli::print_json(
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
  if (options.reference)
    fmt::print("  plain LibTorch      {:>8.2f} ms   {:.1f}x\n", b.libtorch_ms, b.libtorch_ms / b.together_ms);
  fmt::print("probes of molecules: 5 folds x 7 penalties and the refit, {} columns, 80 % of the rows trained on\n",
             m.columns);
  fmt::print("  two classes         {:>8.2f} s    {} rows\n", m.classes_s, m.rows);
  fmt::print("  numbers             {:>8.2f} s    {} rows\n", m.numbers_s, m.rows);
  fmt::print("  {:<2} tasks of classes {:>8.2f} s    {} rows\n", m.tasks, m.tasks_s, m.many_rows);
}

}  // namespace graphpae::bench
