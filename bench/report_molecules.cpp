#include <fmt/format.h>

#include <filesystem>

#include "bench/molecule_bench.h"
#include "bench/reports.h"
#include "bench/shard_bench.h"
#include "bench/workplace.h"
#include "graphpae/settings/recipes.h"

namespace graphpae::bench {
namespace {

cli::Json steps_json(const MoleculeBench& b) {
  return {{"batch", b.batch},
          {"step_ms", b.step_ms},
          {"molecules_per_second", b.molecules_per_second()},
          {"reference_step_ms", b.plain_ms},
          {"dense_gflop", b.dense_gflop},
          {"dense_ms", b.dense_ms},
          {"dense_gflops", b.dense_gflop / b.dense_ms * 1e3},
          {"onednn_gflops", b.dense_gflop / b.onednn_ms * 1e3}};
}

void print_steps(const MoleculeBench& b) {
  fmt::print("  a training step     {:>8.1f} ms   {:.0f} molecules per second\n", b.step_ms, b.molecules_per_second());
  if (b.plain_ms > 0) fmt::print("  plain LibTorch      {:>8.1f} ms   {:.1f}x\n", b.plain_ms, b.plain_ms / b.step_ms);
  fmt::print("  dense products of it {:>7.1f} ms   {:.2f} GFLOP at {:.0f} GFLOP/s; oneDNN reaches {:.0f}\n", b.dense_ms,
             b.dense_gflop, b.dense_gflop / b.dense_ms * 1e3, b.dense_gflop / b.onednn_ms * 1e3);
  fmt::print("  over the whole step              {:.0f} GFLOP/s, {:.0f} % of oneDNN's rate\n",
             b.dense_gflop / b.step_ms * 1e3, 100 * b.onednn_ms / b.step_ms);
}

}  // namespace

void report_molecules(const ReportOptions& options, const cli::Common& common) {
  const Threads threads = common.thread_count();
  begin_training(threads);
  const std::string path = options.data + "/molbace";
  const bool is_real = !options.data.empty() && std::filesystem::exists(path);
  LoadOptions load_options;
  load_options.threads = threads;
  const GraphSet set = is_real ? load(path, load_options).graph_set() : bench_molecules(threads);
  const MoleculeBench b =
      run_molecule_bench(set, recipe_settings("molbace"), options.repeat_or(40), options.reference, threads);
  if (common.json) {
    cli::Json json = {{"generated", !is_real}, {"molecules", b.molecules}};
    json.update(steps_json(b));
    return cli::print_json(json);
  }
  fmt::print("{} molecules{}, {:.1f} atoms and {:.1f} directed edges each, batches of {}\n", b.molecules,
             is_real ? " of molbace" : " of the size of those in molbace", b.atoms, b.edges, b.batch);
  print_steps(b);
}

void report_shards(const ReportOptions& options, const cli::Common& common) {
  const Threads threads = common.thread_count();
  begin_training(threads);
  const Scratch scratch;
  const Settings settings = recipe_settings("zinc");
  const bool is_real = !options.data.empty() && is_shard_directory(options.data);
  const ShardSet shards = is_real ? ShardSet(options.data) : bench_shards(scratch / "shards", settings, threads);
  const ShardBench b = run_shard_bench(shards, settings, options.repeat_or(7), threads);
  const int64_t peak = peak_memory();
  const MoleculeBench steps =
      run_molecule_bench(shards.read(0).molecules, settings, options.repeat_or(7), options.reference, threads);
  const auto rate = [&](double ms) { return static_cast<double>(b.batch) / ms * 1e3; };
  if (common.json) {
    return cli::print_json({{"generated", !is_real},
                            {"molecules", b.molecules},
                            {"shards", b.shards},
                            {"batch", b.batch},
                            {"shards_step_ms", b.shards_ms},
                            {"memory_step_ms", b.memory_ms},
                            {"molecules_per_second", rate(b.shards_ms)},
                            {"ratio", b.shards_ms / b.memory_ms},
                            {"prepare_ms", b.prepare_ms},
                            {"longest_prepare_ms", b.longest_ms},
                            {"peak_rss_bytes", peak},
                            {"steps", steps_json(steps)}});
  }
  fmt::print("{} molecules in {} shards{}, batches of {}\n", b.molecules, b.shards, is_real ? "" : " (generated)",
             b.batch);
  fmt::print("  a step from shards  {:>8.0f} ms   {:.0f} molecules per second\n", b.shards_ms, rate(b.shards_ms));
  fmt::print("  a step from memory  {:>8.0f} ms   {:.0f} molecules per second, {:.1f} % faster\n", b.memory_ms,
             rate(b.memory_ms), 100 * (b.shards_ms / b.memory_ms - 1));
  fmt::print("  making a batch      {:>8.1f} ms   in one thread beside the step; at most {:.0f} ms\n", b.prepare_ms,
             b.longest_ms);
  fmt::print("the molecules of the first shard, in memory, {:.1f} atoms and {:.1f} directed edges each\n", steps.atoms,
             steps.edges);
  print_steps(steps);
}

}  // namespace graphpae::bench
