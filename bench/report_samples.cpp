#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <filesystem>

#include "bench/exchange_bench.h"
#include "bench/reports.h"
#include "bench/sampling_bench.h"
#include "bench/workplace.h"
#include "graphpae/distributed/processes.h"
#include "graphpae/settings/recipes.h"

namespace graphpae::bench {

void report_sampling(const ReportOptions& options, const cli::Common& common) {
  const Threads threads = common.thread_count();
  begin_training(threads);
  const Graph graph = sampling_graph({}, threads);
  Settings settings = recipe_settings("arxiv-year");
  settings.eigenvectors = 20;
  const SamplingBench b = run_sampling_bench(graph, settings, options.repeat_or(7), threads);
  if (common.json) {
    return cli::print_json({{"nodes", b.nodes},
                            {"edges", b.edges},
                            {"seeds", b.seeds},
                            {"reached", b.reached},
                            {"seeds_per_second", b.sampler},
                            {"seeds_per_second_one_thread", b.one_thread},
                            {"seeds_per_second_straightforward", b.straightforward},
                            {"make_ms", b.make_ms},
                            {"step_ms", b.step_ms},
                            {"step_without_sampling_ms", b.without_ms},
                            {"peak_rss_bytes", peak_memory()}});
  }
  fmt::print("{} nodes, {} directed edges; {} seeds reach {} nodes\n", b.nodes, b.edges, b.seeds, b.reached);
  fmt::print("  drawing             {:>8.0f} seeds/s  {:.1f}x a straightforward sampler ({:.0f}); one thread {:.0f}\n",
             b.sampler, b.sampler / b.straightforward, b.straightforward, b.one_thread);
  fmt::print("  drawn and gathered  {:>8.0f} ms   in one thread beside the step\n", b.make_ms);
  fmt::print("  a training step     {:>8.0f} ms   {:.0f} seeds/s; {:.0f} ms with the sample at hand\n", b.step_ms,
             static_cast<double>(b.seeds) / b.step_ms * 1e3, b.without_ms);
}

void report_exchange(const ReportOptions& options, const cli::Common& common) {
  const auto place = process_place([](const char* name) { return std::getenv(name); });
  if (!place || place->size == 1)
    throw usage_error("bench exchange needs several processes: graphpae launch -n 2 -- bench exchange");
  Processes processes(*place, 30);
  const ExchangeBench b = run_exchange_bench(processes, options.repeat_or(7));
  if (place->rank != 0) return;
  if (common.json) {
    return cli::print_json({{"processes", place->size},
                            {"small_us", b.small_us},
                            {"parameters", b.parameters},
                            {"gradient_ms", b.gradient_ms},
                            {"update_ms", b.update_ms}});
  }
  const double per_parameter = 1e6 / static_cast<double>(b.parameters);
  fmt::print("{} processes\n", place->size);
  fmt::print("  a sum of statistics {:>8.0f} us\n", b.small_us);
  fmt::print("  a sum of gradients  {:>8.1f} ms   {} parameters, {:.1f} ns each\n", b.gradient_ms, b.parameters,
             b.gradient_ms * per_parameter);
  fmt::print("  their update        {:>8.1f} ms   one thread, {:.1f} ns each\n", b.update_ms,
             b.update_ms * per_parameter);
}

void report_large(const ReportOptions& options, const cli::Common& common) {
  const Threads threads = common.thread_count();
  begin_training(threads);
  const int steps = options.repeat_or(100);
  const Scratch scratch;
  const SamplingGraph size{2'450'000, 62'000'000, 100};
  const Settings settings = recipe_settings("ogbn-products");
  const std::string output = options.data.empty() ? scratch / "embeddings.npy" : options.data + "/bench-large.npy";
  cli::Json parts = cli::Json::array();
  const auto report = [&](const LargePart& part) {
    parts.push_back(
        {{"part", part.name}, {"seconds", part.seconds}, {"rss_bytes", part.resident}, {"peak_rss_bytes", part.peak}});
    if (common.json) return;
    fmt::print("{:<20} {:>8.1f} s   {:>5.2f} GB resident after it, {:.2f} GB at most\n", part.name, part.seconds,
               static_cast<double>(part.resident) / 1e9, static_cast<double>(part.peak) / 1e9);
    std::fflush(stdout);
  };
  if (!common.json)
    fmt::print("{} nodes, {} edges, {} features; {} steps of recipe ogbn-products\n", size.nodes, size.edges,
               size.features, steps);
  run_large_bench(size, settings, steps, int64_t{19} << 30, output, threads, report);
  std::filesystem::remove(output);
  if (common.json) cli::print_json(parts);
}

}  // namespace graphpae::bench
