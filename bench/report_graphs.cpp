#include <fmt/format.h>
#include <hwy/targets.h>

#include <cstdlib>
#include <filesystem>
#include <map>

#include "bench/kernels_bench.h"
#include "bench/measure.h"
#include "bench/reports.h"
#include "bench/workplace.h"
#include "graphpae/data/directory_form.h"
#include "graphpae/data/generate.h"
#include "graphpae/io/input_file.h"
#include "graphpae/settings/recipes.h"

namespace graphpae::bench {
namespace {

namespace fs = std::filesystem;

// The shapes of the real graphs, for when they are not there.
struct Shape {
  const char *recipe, *directory;
  int64_t nodes, edges, features, words;
};
const std::map<std::string, Shape> kShapes = {
    {"chameleon", {"chameleon", "chameleon", 2277, 32500, 2325, 14}},
    {"squirrel", {"squirrel", "squirrel", 5201, 210000, 2089, 18}},
    {"actor", {"actor", "actor", 7600, 27500, 932, 6}},
    {"blogcatalog", {"blogcatalog", "blogcatalog", 5196, 180000, 8189, 75}},
    {"cornell5", {"cornell5", "fb100_cornell5", 18660, 830000, 4735, 7}},
};

const Shape& shape_of(const std::string& name) {
  const auto found = kShapes.find(name);
  if (found == kShapes.end())
    throw usage_error(
        fmt::format("unknown graph '{}'; chameleon, squirrel, actor, blogcatalog and cornell5 are known", name));
  return found->second;
}

Graph generated(const Shape& shape, Threads threads) {
  GenerateOptions options = generate_defaults("heterophilic");
  options.nodes = shape.nodes;
  options.edges = shape.edges;
  options.features = shape.features;
  options.words = shape.words;
  return generate(options, threads);
}

std::string real_path(const ReportOptions& options, const Shape& shape) {
  const std::string path = options.data + "/" + shape.directory;
  return !options.data.empty() && fs::exists(path) ? path : "";
}

struct EpochTimes {
  double seconds = 0;  // median after warm-up
  int64_t peak_bytes = 0;
  double final_loss = 0;
};

EpochTimes run_pretrain(const std::string& data, const std::string& recipe, const std::string& kernels, int epochs,
                        int warm_up, const std::string& run, Threads threads) {
  const std::string program = fs::read_symlink("/proc/self/exe").parent_path() / "graphpae";
  const std::string command = cli::shell_words({program, "pretrain", data, "--recipe", recipe, "-o", run, "--kernels",
                                                kernels, "--epochs", std::to_string(epochs + warm_up), "--threads",
                                                std::to_string(threads.count), "-q", "--checkpoint-every", "1000000"});
  if (std::system((command + " >/dev/null").c_str()) != 0)
    throw Error(ErrorKind::internal, fmt::format("pretrain on {} with {} kernels failed", data, kernels));
  std::vector<double> seconds;
  LineReader lines(run + "/metrics.jsonl");
  for (std::string_view line; lines.next(line);) seconds.push_back(cli::Json::parse(line)["seconds"].get<double>());
  seconds.erase(seconds.begin(), seconds.begin() + warm_up);
  const cli::Json results = cli::Json::parse(read_file(run + "/results.json", 1 << 20));
  return {median(std::move(seconds)), results["peak_rss_bytes"].get<int64_t>(), results["final_loss"].get<double>()};
}

std::string targets_text() {
  std::string text;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets())
    text += (text.empty() ? "" : " ") + std::string(hwy::TargetName(target));
  return text;
}

}  // namespace

void report_kernels(const ReportOptions& options, const cli::Common& common) {
  const Threads threads = common.thread_count();
  use_threads_in_torch(threads);
  keep_freed_memory();
  const Probes probes = run_probes(threads);
  cli::Json rows = cli::Json::array();
  if (!common.json) {
    fmt::print("vector code: {} (the first is used), {} threads\n", targets_text(), threads.count);
    fmt::print(
        "probes: multiply-add {:.0f} GFLOP/s, LibTorch's product {:.0f} GFLOP/s, L2 {:.0f} GB/s, memory {:.1f} GB/s\n",
        probes.fma_gflops, probes.product_gflops, probes.l2_gb_per_s, probes.stream_gb_per_s);
    fmt::print("rates count the work of the direct computation; above 100% most of it was not done\n");
  }
  for (const std::string& name : options.graphs.empty() ? std::vector<std::string>{"squirrel"} : options.graphs) {
    const Shape& shape = shape_of(name);
    const std::string path = real_path(options, shape);
    LoadOptions load_options;
    load_options.threads = threads;
    const Graph graph = path.empty() ? generated(shape, threads) : load(path, load_options).graph();
    if (!common.json) {
      fmt::print(
          "\n{}{}\noperation         direction        ms      rate          share of probe         plain ms  ratio\n",
          name, path.empty() ? " (generated)" : "");
    }
    KernelsBenchOptions bench_options{threads, options.repeat_or(7), options.reference};
    run_kernels_bench(graph, recipe_settings(shape.recipe), bench_options, probes, [&](const KernelRow& row) {
      rows.push_back({{"graph", name},
                      {"generated", path.empty()},
                      {"operation", row.name},
                      {"direction", row.direction},
                      {"seconds", row.seconds},
                      {"rate", row.work / row.seconds},
                      {"unit", row.is_flops ? "GFLOP/s" : "GB/s"},
                      {"share", row.share},
                      {"probe", row.probe},
                      {"plain_seconds", row.plain_seconds}});
      if (common.json) return;
      fmt::print("{:<17} {:<9} {:>9.2f} {:>7.1f} {:<7} {:>4.0f}% of {:<12}", row.name, row.direction, row.seconds * 1e3,
                 row.work / row.seconds, row.is_flops ? "GFLOP/s" : "GB/s", row.share * 100, row.probe);
      if (row.plain_seconds > 0)
        fmt::print(" {:>9.1f} {:>5.1f}x", row.plain_seconds * 1e3, row.plain_seconds / row.seconds);
      fmt::print("\n");
      std::fflush(stdout);
    });
  }
  if (common.json) {
    cli::print_json({{"vector_code", targets_text()},
                     {"threads", threads.count},
                     {"probes",
                      {{"fma_gflops", probes.fma_gflops},
                       {"product_gflops", probes.product_gflops},
                       {"l2_gb_per_s", probes.l2_gb_per_s},
                       {"stream_gb_per_s", probes.stream_gb_per_s}}},
                     {"rows", rows}});
  }
}

void report_epochs(const ReportOptions& options, const cli::Common& common) {
  constexpr int kWarmUp = 2, kReferenceEpochs = 3;
  const Threads threads = common.thread_count();
  const Scratch scratch;
  cli::Json rows = cli::Json::array();
  if (!common.json)
    fmt::print("graph         s/epoch  peak GB   reference s/epoch  peak GB   faster  memory   loss after {} epochs\n",
               kReferenceEpochs + 1);
  const std::vector<std::string> all = {"chameleon", "squirrel", "actor", "blogcatalog"};
  for (const std::string& name : options.graphs.empty() ? all : options.graphs) {
    const Shape& shape = shape_of(name);
    std::string path = real_path(options, shape);
    const bool is_generated = path.empty();
    if (is_generated) {
      path = scratch / name;
      write_directory(path, generated(shape, threads), false);
    }
    const EpochTimes fused =
        run_pretrain(path, shape.recipe, "fused", options.repeat_or(7), kWarmUp, scratch / (name + "-fused"), threads);
    EpochTimes plain, same;
    if (options.reference) {
      plain =
          run_pretrain(path, shape.recipe, "reference", kReferenceEpochs, 1, scratch / (name + "-reference"), threads);
      same = run_pretrain(path, shape.recipe, "fused", kReferenceEpochs, 1, scratch / (name + "-same"), threads);
    }
    rows.push_back({{"graph", name},
                    {"generated", is_generated},
                    {"seconds_per_epoch", fused.seconds},
                    {"peak_rss_bytes", fused.peak_bytes},
                    {"reference_seconds_per_epoch", plain.seconds},
                    {"reference_peak_rss_bytes", plain.peak_bytes},
                    {"loss", same.final_loss},
                    {"reference_loss", plain.final_loss}});
    if (common.json) continue;
    fmt::print("{:<12} {:>8.3f} {:>8.2f}", name, fused.seconds, static_cast<double>(fused.peak_bytes) / 1e9);
    if (options.reference) {
      fmt::print("  {:>18.2f} {:>8.2f}  {:>6.1f}x  1/{:<5.1f} {:.7f} and {:.7f}", plain.seconds,
                 static_cast<double>(plain.peak_bytes) / 1e9, plain.seconds / fused.seconds,
                 static_cast<double>(plain.peak_bytes) / static_cast<double>(fused.peak_bytes), same.final_loss,
                 plain.final_loss);
    }
    fmt::print("{}\n", is_generated ? "  (generated)" : "");
    std::fflush(stdout);
  }
  if (common.json) cli::print_json(rows);
}

}  // namespace graphpae::bench
