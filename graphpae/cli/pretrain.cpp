#include <fmt/format.h>
#include <fmt/ranges.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <memory>
#include <optional>

#include "graphpae/cli/environment.h"
#include "graphpae/cli/evaluation_table.h"
#include "graphpae/cli/interrupt.h"
#include "graphpae/cli/progress.h"
#include "graphpae/core/error.h"
#include "graphpae/core/memory.h"
#include "graphpae/data/summary.h"
#include "graphpae/io/atomic_file.h"
#include "graphpae/model/model_file.h"
#include "graphpae/train/estimate.h"
#include "graphpae/train/run_directory.h"

namespace graphpae::cli {
namespace {

struct Flags {
  DataFlags data;
  ModelFlags model;
  std::string output, kernels = "fused", precision = "fp32";
  bool resume = false, force = false, dry_run = false, evaluate = false;
  EvaluateFlags evaluation;
  int64_t checkpoint_every = 50;
};

using Clock = std::chrono::steady_clock;
double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

double median(std::vector<double> values) {
  if (values.empty()) return 0;
  std::sort(values.begin(), values.end());
  const size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

// A run goes on with the settings it began with; what the command line says may only repeat them.
Settings resumed_settings(const ModelFlags& flags, const RunDirectory& run) {
  const Settings begun = run.settings();
  if (const auto d = setting_difference(begun, resolve_settings(flags, begun)))
    throw usage_error(
        fmt::format("{}: the run has {}={}, the command line says {}", run.path(), d->key, d->first, d->second));
  return begun;
}

void print_estimate(const Graph& graph, const Settings& settings, Kernels kernels, const Common& common) {
  const Estimate e = estimate(graph, settings, kernels, common.thread_count());
  const auto named_shapes = model_shapes(graph, settings);
  if (common.json) {
    Json shapes;
    for (const auto& [name, shape] : named_shapes) shapes[name] = shape;
    print_json({{"parameters", e.parameters},
                {"bytes", e.bytes},
                {"flops_per_epoch", e.flops},
                {"seconds_per_epoch", e.seconds},
                {"seconds", e.seconds * static_cast<double>(settings.epochs)},
                {"shapes", shapes}});
    return;
  }
  for (const auto& [name, shape] : named_shapes) fmt::print("  {:<36} [{}]\n", name, fmt::join(shape, ", "));
  fmt::print("parameters     {}\n", e.parameters);
  fmt::print("memory         about {:.2f} GB ({:.2f} GB available)\n", static_cast<double>(e.bytes) / 1e9,
             static_cast<double>(available_memory()) / 1e9);
  fmt::print("an epoch       about {:.2g} s ({:.3g} GFLOP)\n", e.seconds, e.flops / 1e9);
  fmt::print("{:<6} epochs  about {:.3g} min\n", settings.epochs,
             e.seconds * static_cast<double>(settings.epochs) / 60);
  fmt::print("dry run: nothing was written\n");
}

std::string result_card(const std::string& data, const Json& results) {
  return fmt::format("Trained on {}: {} epochs, final loss {:.6g}.\n", data, results["epochs"].get<int64_t>(),
                     results["final_loss"].is_number() ? results["final_loss"].get<double>() : std::nan(""));
}

// Trains and, if asked to, evaluates; the table of the evaluation goes to `table`.
Json train(const Graph& graph, const Flags& flags, const Common& common, std::string& table) {
  const bool resuming = flags.resume && RunDirectory::holds_run(flags.output);
  std::optional<RunDirectory> run;
  Settings settings;
  std::optional<EvaluationPlan> plan;
  std::vector<std::string> notes;
  const auto plan_ahead = [&] {  // its errors come before anything is written
    if (!flags.evaluate) return;
    naming(flags.data.data, [&] { plan.emplace(plan_evaluation(graph, settings, flags.evaluation, common, notes)); });
    print_notes(notes);
  };
  if (resuming) {
    run = RunDirectory::open(flags.output);
    settings = resumed_settings(flags.model, *run);
    plan_ahead();
  } else {
    settings = resolve_settings(flags.model);
    check_trainable(graph, settings);
    plan_ahead();
    run = RunDirectory::create(flags.output, flags.force);
  }
  const Kernels kernels = parse_kernels(flags.kernels);
  if (kernels == Kernels::fused) keep_freed_memory();  // the reference is LibTorch as it comes
  const std::string data = content_hash(graph);
  if (!resuming) write_file(run->file("config.yaml"), to_yaml(settings));
  write_file(run->file("environment.json"),
             environment_json(flags.data.data, data, common.thread_count(), kernels).dump(2) + "\n");

  const int64_t needed = estimate(graph, settings, kernels, common.thread_count()).bytes;
  if (needed > available_memory()) {
    throw memory_error(fmt::format("training needs about {:.1f} GB, {:.1f} GB are available",
                                   static_cast<double>(needed) / 1e9, static_cast<double>(available_memory()) / 1e9));
  }
  const auto start = Clock::now();
  const InputOptions options = input_options(common, kernels, settings.eigenvectors);
  Pretrainer trainer(make_input(graph, settings, options), input_shape(graph), settings);
  const double preparing = seconds_since(start);
  notes.clear();
  if (resuming && run->restore_checkpoint(trainer, data, notes))
    spdlog::info("going on after epoch {}", trainer.epoch());
  print_notes(notes);
  std::vector<EpochRecord> records = run->rewind_metrics(trainer.epoch());

  {
    const GracefulStop stop;
    Progress progress(common, "epochs", settings.epochs, trainer.epoch());
    while (!trainer.done()) {
      const auto epoch_start = Clock::now();
      const EpochMetrics metrics = trainer.train_epoch();
      records.push_back({metrics, seconds_since(epoch_start)});
      run->append(records.back());
      progress.update(metrics.epoch,
                      fmt::format("loss {:.4f} (features {:.4f}, positions {:.2e})  lr {:.1e}  {:.2f} GB", metrics.loss,
                                  metrics.loss_feature, metrics.loss_position, metrics.lr,
                                  static_cast<double>(resident_memory()) / 1e9));
      const bool stopping = stop.requested() && !trainer.done();
      if (stopping || trainer.done() || metrics.epoch % flags.checkpoint_every == 0)
        run->save_checkpoint(trainer, data);
      if (stopping) {
        throw Error(ErrorKind::interrupted,
                    fmt::format("interrupted after epoch {}; --resume goes on from there", metrics.epoch));
      }
    }
  }

  std::vector<double> times;
  double seconds = preparing;
  for (const EpochRecord& record : records) {
    times.push_back(record.seconds);
    seconds += record.seconds;
  }
  Json results = {{"epochs", trainer.epoch()},
                  {"final_loss", records.empty() ? Json() : Json(records.back().metrics.loss)},
                  {"seconds", seconds},
                  {"seconds_per_epoch", median(times)},
                  {"peak_rss_bytes", peak_memory()},
                  {"run", flags.output}};
  save_model(run->file("model"), trainer.model(), result_card(flags.data.data, results));
  write_file(run->file("results.json"), results.dump(2) + "\n");
  if (plan) {
    const auto model = std::static_pointer_cast<GraphPae>(trainer.model().shared_from_this());
    const std::vector<EvaluationRow> rows = run_evaluation(*plan, {model}, trainer.input(), options, common);
    results["evaluation"] = evaluation_json(*plan, rows);
    table = evaluation_text(*plan, rows);
    write_file(run->file("results.json"), results.dump(2) + "\n");
  }
  return results;
}

}  // namespace

void add_pretrain(CLI::App& app, Common& common) {
  CLI::App* verb = app.add_subcommand("pretrain", "learn an encoder without labels");
  auto flags = std::make_shared<Flags>();
  add_data_flags(*verb, flags->data);
  add_model_flags(*verb, flags->model);
  verb->add_option("-o,--output", flags->output, "run directory");
  verb->add_flag("--resume", flags->resume, "go on with the run in the run directory, if there is one");
  verb->add_flag("--force", flags->force, "start anew in an existing run directory");
  verb->add_flag("--dry-run", flags->dry_run, "shapes, memory and time estimate; nothing is written");
  verb->add_option("--kernels", flags->kernels, "fused or reference (plain LibTorch)")->capture_default_str();
  verb->add_option("--precision", flags->precision, "of the computation; fp32 is all there is")->capture_default_str();
  verb->add_option("--checkpoint-every", flags->checkpoint_every, "epochs between checkpoints")
      ->check(CLI::Range(int64_t{1}, int64_t{1} << 40))
      ->capture_default_str();
  CLI::Option* evaluate = verb->add_flag("--evaluate", flags->evaluate, "probe the embeddings after training");
  add_evaluate_flags(*verb, flags->evaluation, evaluate);
  verb->callback([flags, &common] {
    const Kernels kernels = parse_kernels(flags->kernels);
    if (flags->precision != "fp32")
      throw usage_error(fmt::format("--precision {}: only fp32 is offered", flags->precision));
    if (flags->resume && flags->force) throw usage_error("--resume and --force exclude each other");
    const Settings settings = resolve_settings(flags->model);  // errors before the data are read
    if (flags->output.empty() && !flags->dry_run) throw usage_error("-o RUN is required: where the run is kept");
    const Dataset dataset = load_data(flags->data, common);
    const Graph& graph = graph_of(dataset, flags->data.data);
    if (flags->dry_run) {
      check_trainable(graph, settings);
      return print_estimate(graph, settings, kernels, common);
    }
    print_notes(dataset.notes);
    std::string table;
    const Json results = train(graph, *flags, common, table);
    if (common.json) return print_json(results);
    fmt::print("{}: {} epochs, final loss {}, {:.1f} s ({:.3g} s per epoch), peak memory {:.2f} GB\n", flags->output,
               results["epochs"].get<int64_t>(), results["final_loss"].dump(), results["seconds"].get<double>(),
               results["seconds_per_epoch"].get<double>(), results["peak_rss_bytes"].get<double>() / 1e9);
    if (!table.empty()) fmt::print("\n{}", table);
  });
}

}  // namespace graphpae::cli
