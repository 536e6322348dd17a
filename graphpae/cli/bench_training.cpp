#include "graphpae/cli/bench_training.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <hwy/targets.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>

#include "bench/exchange_bench.h"
#include "bench/kernels_bench.h"
#include "bench/molecule_bench.h"
#include "bench/sampling_bench.h"
#include "bench/shard_bench.h"
#include "graphpae/cli/team.h"
#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/core/tensors.h"
#include "graphpae/data/directory_form.h"
#include "graphpae/data/generate.h"
#include "graphpae/io/input_file.h"
#include "graphpae/train/recipes.h"
#include "graphpae/train/tensor_memory.h"

namespace graphpae::cli {
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

std::string real_path(const TrainingBenchOptions& options, const Shape& shape) {
  const std::string path = options.data + "/" + shape.directory;
  return !options.data.empty() && fs::exists(path) ? path : "";
}

// A directory that goes away at the end.
class Scratch {
 public:
  Scratch() {
    std::string pattern = (fs::temp_directory_path() / "graphpae-bench-XXXXXX").string();
    if (::mkdtemp(pattern.data()) == nullptr) throw data_error("no temporary directory can be made");
    path_ = pattern;
  }
  ~Scratch() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::string operator/(const std::string& name) const { return path_ + "/" + name; }

 private:
  std::string path_;
};

struct EpochTimes {
  double seconds = 0;  // median after warm-up
  int64_t peak_bytes = 0;
  double final_loss = 0;
};

EpochTimes run_pretrain(const std::string& data, const std::string& recipe, const std::string& kernels, int epochs,
                        int warm_up, const std::string& run, Threads threads) {
  std::vector<std::string> words = {"graphpae",
                                    "pretrain",
                                    data,
                                    "--recipe",
                                    recipe,
                                    "-o",
                                    run,
                                    "--kernels",
                                    kernels,
                                    "--epochs",
                                    std::to_string(epochs + warm_up),
                                    "--threads",
                                    std::to_string(threads.count),
                                    "-q",
                                    "--checkpoint-every",
                                    "1000000"};
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t child = 0;
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
  const int failure = ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = -1;
  if (failure != 0 || ::waitpid(child, &status, 0) != child || status != 0)
    throw Error(ErrorKind::internal, fmt::format("pretrain on {} with {} kernels failed", data, kernels));
  std::vector<double> seconds;
  LineReader lines(run + "/metrics.jsonl");
  for (std::string_view line; lines.next(line);) seconds.push_back(Json::parse(line)["seconds"].get<double>());
  seconds.erase(seconds.begin(), seconds.begin() + warm_up);
  std::nth_element(seconds.begin(), seconds.begin() + seconds.size() / 2, seconds.end());
  const Json results = Json::parse(read_file(run + "/results.json", 1 << 20));
  return {seconds[seconds.size() / 2], results["peak_rss_bytes"].get<int64_t>(), results["final_loss"].get<double>()};
}

std::string targets_text() {
  std::string text;
  for (const int64_t target : hwy::SupportedAndGeneratedTargets())
    text += (text.empty() ? "" : " ") + std::string(hwy::TargetName(target));
  return text;
}

Json steps_json(const bench::MoleculeBench& b) {
  return {{"batch", b.batch},
          {"step_ms", b.step_ms},
          {"molecules_per_second", b.molecules_per_second()},
          {"reference_step_ms", b.plain_ms},
          {"dense_gflop", b.dense_gflop},
          {"dense_ms", b.dense_ms},
          {"dense_gflops", b.dense_gflop / b.dense_ms * 1e3},
          {"onednn_gflops", b.dense_gflop / b.onednn_ms * 1e3}};
}

void print_steps(const bench::MoleculeBench& b) {
  fmt::print("  a training step     {:>8.1f} ms   {:.0f} molecules per second\n", b.step_ms, b.molecules_per_second());
  if (b.plain_ms > 0) fmt::print("  plain LibTorch      {:>8.1f} ms   {:.1f}x\n", b.plain_ms, b.plain_ms / b.step_ms);
  fmt::print("  dense products of it {:>7.1f} ms   {:.2f} GFLOP at {:.0f} GFLOP/s; oneDNN reaches {:.0f}\n", b.dense_ms,
             b.dense_gflop, b.dense_gflop / b.dense_ms * 1e3, b.dense_gflop / b.onednn_ms * 1e3);
  fmt::print("  over the whole step              {:.0f} GFLOP/s, {:.0f} % of oneDNN's rate\n",
             b.dense_gflop / b.step_ms * 1e3, 100 * b.onednn_ms / b.step_ms);
}

}  // namespace

void bench_kernels(const TrainingBenchOptions& options, const Common& common) {
  const Threads threads = common.thread_count();
  use_threads_in_torch(threads);
  keep_freed_memory();
  const bench::Probes probes = bench::run_probes(threads);
  Json rows = Json::array();
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
    bench::KernelsBenchOptions bench_options{threads, options.repeat, options.reference};
    bench::run_kernels_bench(
        graph, recipe_settings(shape.recipe), bench_options, probes, [&](const bench::KernelRow& row) {
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
          fmt::print("{:<17} {:<9} {:>9.2f} {:>7.1f} {:<7} {:>4.0f}% of {:<12}", row.name, row.direction,
                     row.seconds * 1e3, row.work / row.seconds, row.is_flops ? "GFLOP/s" : "GB/s", row.share * 100,
                     row.probe);
          if (row.plain_seconds > 0)
            fmt::print(" {:>9.1f} {:>5.1f}x", row.plain_seconds * 1e3, row.plain_seconds / row.seconds);
          fmt::print("\n");
          std::fflush(stdout);
        });
  }
  if (common.json) {
    print_json({{"vector_code", targets_text()},
                {"threads", threads.count},
                {"probes",
                 {{"fma_gflops", probes.fma_gflops},
                  {"product_gflops", probes.product_gflops},
                  {"l2_gb_per_s", probes.l2_gb_per_s},
                  {"stream_gb_per_s", probes.stream_gb_per_s}}},
                {"rows", rows}});
  }
}

void bench_epochs(const TrainingBenchOptions& options, const Common& common) {
  constexpr int kWarmUp = 2, kReferenceEpochs = 3;
  const Threads threads = common.thread_count();
  const Scratch scratch;
  Json rows = Json::array();
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
        run_pretrain(path, shape.recipe, "fused", options.repeat, kWarmUp, scratch / (name + "-fused"), threads);
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
  if (common.json) print_json(rows);
}

void bench_molecules(const TrainingBenchOptions& options, const Common& common) {
  const Threads threads = common.thread_count();
  use_threads_in_torch(threads);
  keep_freed_memory();
  keep_tensor_memory();
  const std::string path = options.data + "/molbace";
  const bool is_real = !options.data.empty() && fs::exists(path);
  LoadOptions load_options;
  load_options.threads = threads;
  const GraphSet set = is_real ? load(path, load_options).graph_set() : bench::bench_molecules(threads);
  const bench::MoleculeBench b =
      bench::run_molecule_bench(set, recipe_settings("molbace"), options.repeat, options.reference, threads);
  if (common.json) {
    Json json = {{"generated", !is_real}, {"molecules", b.molecules}};
    json.update(steps_json(b));
    return print_json(json);
  }
  fmt::print("{} molecules{}, {:.1f} atoms and {:.1f} directed edges each, batches of {}\n", b.molecules,
             is_real ? " of molbace" : " of the size of those in molbace", b.atoms, b.edges, b.batch);
  print_steps(b);
}

void bench_shards(const TrainingBenchOptions& options, const Common& common) {
  const Threads threads = common.thread_count();
  use_threads_in_torch(threads);
  keep_freed_memory();
  keep_tensor_memory();
  const Scratch scratch;
  const Settings settings = recipe_settings("zinc");
  const bool is_real = !options.data.empty() && is_shard_directory(options.data);
  const ShardSet shards = is_real ? ShardSet(options.data) : bench::bench_shards(scratch / "shards", settings, threads);
  const bench::ShardBench b = bench::run_shard_bench(shards, settings, options.repeat, threads);
  const int64_t peak = peak_memory();
  const bench::MoleculeBench steps =
      bench::run_molecule_bench(shards.read(0).molecules, settings, options.repeat, options.reference, threads);
  const auto rate = [&](double ms) { return static_cast<double>(b.batch) / ms * 1e3; };
  if (common.json) {
    return print_json({{"generated", !is_real},
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

void bench_sampling(const TrainingBenchOptions& options, const Common& common) {
  const Threads threads = common.thread_count();
  use_threads_in_torch(threads);
  keep_freed_memory();
  keep_tensor_memory();
  const Graph graph = bench::sampling_graph({}, threads);
  Settings settings = recipe_settings("arxiv-year");
  settings.eigenvectors = 20;
  const bench::SamplingBench b = bench::run_sampling_bench(graph, settings, options.repeat, threads);
  if (common.json) {
    return print_json({{"nodes", b.nodes},
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

void bench_exchange(const TrainingBenchOptions& options, const Common& common) {
  const Team team = join_team(30);
  if (team.processes == nullptr)
    throw usage_error("bench exchange needs several processes: graphpae launch -n 2 -- bench exchange");
  const bench::ExchangeBench b = bench::run_exchange_bench(*team.processes, options.repeat);
  if (!team.leads()) return;
  if (common.json) {
    return print_json({{"processes", team.size()},
                       {"small_us", b.small_us},
                       {"parameters", b.parameters},
                       {"gradient_ms", b.gradient_ms},
                       {"update_ms", b.update_ms}});
  }
  const double per_parameter = 1e6 / static_cast<double>(b.parameters);
  fmt::print("{} processes\n", team.size());
  fmt::print("  a sum of statistics {:>8.0f} us\n", b.small_us);
  fmt::print("  a sum of gradients  {:>8.1f} ms   {} parameters, {:.1f} ns each\n", b.gradient_ms, b.parameters,
             b.gradient_ms * per_parameter);
  fmt::print("  their update        {:>8.1f} ms   one thread, {:.1f} ns each\n", b.update_ms,
             b.update_ms * per_parameter);
}

void bench_large(const TrainingBenchOptions& options, const Common& common) {
  const Threads threads = common.thread_count();
  use_threads_in_torch(threads);
  keep_freed_memory();
  keep_tensor_memory();
  const Scratch scratch;
  const bench::SamplingGraph size{2'450'000, 62'000'000, 100};
  const Settings settings = recipe_settings("ogbn-products");
  const std::string output = options.data.empty() ? scratch / "embeddings.npy" : options.data + "/bench-large.npy";
  Json parts = Json::array();
  const auto report = [&](const bench::LargePart& part) {
    parts.push_back(
        {{"part", part.name}, {"seconds", part.seconds}, {"rss_bytes", part.resident}, {"peak_rss_bytes", part.peak}});
    if (common.json) return;
    fmt::print("{:<20} {:>8.1f} s   {:>5.2f} GB resident after it, {:.2f} GB at most\n", part.name, part.seconds,
               static_cast<double>(part.resident) / 1e9, static_cast<double>(part.peak) / 1e9);
    std::fflush(stdout);
  };
  if (!common.json)
    fmt::print("{} nodes, {} edges, {} features; {} steps of recipe ogbn-products\n", size.nodes, size.edges,
               size.features, options.repeat);
  bench::run_large_bench(size, settings, options.repeat, int64_t{19} << 30, output, threads, report);
  fs::remove(output);
  if (common.json) print_json(parts);
}

}  // namespace graphpae::cli
